// Models, providers and tiers, as every form that chooses one asks for them.

import { useQuery } from "@tanstack/react-query";
import { asked, client } from "../api/client";

export function useModels() {
  return useQuery({ queryKey: ["models"], queryFn: () => asked(client.GET("/api/models")) });
}

export function useProviders() {
  return useQuery({ queryKey: ["providers"], queryFn: () => asked(client.GET("/api/providers")) });
}

export function useTiers() {
  return useQuery({ queryKey: ["tiers"], queryFn: () => asked(client.GET("/api/tiers")) });
}
