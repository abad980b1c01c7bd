// The two pages that are compared: the one that is shipped, and the same with
// react-markdown in place of our own component.

import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { build, type Plugin } from "vite";

const web = join(import.meta.dirname, "..");
const theirs = join(import.meta.dirname, "Reparsing.tsx");

function reparsing(): Plugin {
  return {
    name: "reparsing",
    enforce: "pre",
    resolveId(name, importer) {
      const isOurs = name.endsWith("/markdown/Markdown") && importer !== theirs;
      return isOurs ? theirs : undefined;
    },
  };
}

export async function page(folder: string, kind: "ours" | "reparsing"): Promise<string> {
  const outDir = join(folder, kind);
  await build({
    root: web,
    configFile: false,
    logLevel: "warn",
    plugins: [...(kind === "reparsing" ? [reparsing()] : []), react()],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
    },
  });
  return outDir;
}
