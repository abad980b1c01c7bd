// Who speaks: the drawing of a board's role where somebody is called like one, else initials.

import { Glyph, isIcon } from "../ui/icons";

const ROLES = ["advocate", "critic", "analyst", "devils-advocate", "expert", "generalist"];

export function Face({ name, isModel, small = false }: FaceProps) {
  const role = name.toLowerCase().replace(/[_ ]/g, "-");
  if (ROLES.includes(role) && isIcon(role)) return <Glyph role={role} small={small} />;
  return (
    <span
      className={small ? "glyph small council-face" : "glyph council-face"}
      data-role={isModel ? "participant" : "person"}
      aria-hidden="true"
    >
      {initials(name)}
    </span>
  );
}

interface FaceProps {
  name: string;
  isModel: boolean;
  small?: boolean;
}

/** `pr-reviewer@v1.0.0` → PR, `Skeptic` → S */
export function initials(name: string): string {
  const words = (name.split("@")[0] ?? name).split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("");
}
