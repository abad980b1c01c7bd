import "./style/tokens.css";
import "./style/base.css";
import "./style/shell.css";
import "./style/ui.css";
import "./style/session.css";
import "./style/markdown.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Problem } from "./api/client";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What the server refused it refuses again; only silence is worth another try.
      retry: (failures, error) => failures < 2 && error instanceof Problem && error.status === 0,
    },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
