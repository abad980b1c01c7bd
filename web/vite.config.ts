import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// While developing, `npm run dev` serves the page and passes the rest on to a server.
const server = process.env["PLENARY_URL"] ?? "http://127.0.0.1:7171";

export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/api": server, "/docs": server } },
  build: {
    outDir: "dist",
    target: "es2022",
    // The policy of the server allows no script inside the page.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
