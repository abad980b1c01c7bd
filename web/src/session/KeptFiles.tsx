// The files that came with a session's questions. Their contents are in its record, which
// is asked for when somebody opens one.

import { useState } from "react";
import { client, whole, type Schemas } from "../api/client";
import { FileDialog } from "../ui/Attachments";
import type { AttachedFile } from "../ui/files";
import { Menu } from "../ui/Menu";
import { toast } from "../ui/announce";
import { some } from "../ui/time";

interface Props {
  kind: "boardroom" | "discussion";
  id: string;
  names: readonly string[];
}

export function KeptFiles({ kind, id, names }: Props) {
  const [opened, setOpened] = useState<AttachedFile>();
  if (names.length === 0) return null;
  const open = async (place: number) => {
    try {
      const name = names[place] ?? "";
      const among = names.slice(0, place).filter((one) => one === name).length;
      const kept = (await filesOf(kind, id)).filter((one) => one.name === name);
      const file = kept[among] ?? kept.at(-1);
      if (file) setOpened(file);
      else toast(`${name} is not in the record`);
    } catch (error) {
      toast(error instanceof Error ? error.message : "The file could not be opened");
    }
  };
  return (
    <>
      <Menu
        label={some(names.length, "file")}
        icon="file"
        className="button quiet kept-files"
        items={names.map((name, place) => ({
          label: name,
          icon: "file",
          run: () => void open(place),
        }))}
      />
      {opened && <FileDialog file={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

export async function filesOf(kind: Props["kind"], id: string): Promise<AttachedFile[]> {
  const params = { path: { id }, query: { format: "json" as const } };
  const record =
    kind === "boardroom"
      ? await whole(client.GET("/api/boardrooms/{id}/export", { params }))
      : await whole(client.GET("/api/discussions/{id}/export", { params }));
  return typeof record === "string" ? [] : record.events.flatMap(filesIn);
}

interface Bringing {
  context?: AttachedFile[];
  images?: AttachedFile[];
  brief?: { images?: AttachedFile[] };
}

/** Texts first, as the names are. */
export function filesIn({ event }: Pick<Schemas["ExportedEvent"], "event">): AttachedFile[] {
  const { context = [], images = [], brief } = event as Bringing;
  return [...context, ...(brief?.images ?? []), ...images];
}
