import { inRole } from "../ui/icons";
import type { Advisor } from "./board";
import { initials } from "./initials";

interface Props {
  advisor: Advisor;
  among: readonly Advisor[];
}

/** An advisor by two letters in its colour; its name is told to those who ask or listen. */
export function Initials({ advisor, among }: Props) {
  const all = initials(
    among.map(({ name }) => name),
    among.map(({ ownRole }) => ownRole?.initials),
  );
  return (
    <abbr className="initials" {...inRole(advisor.role, advisor.ownRole)} title={advisor.name}>
      {all[among.indexOf(advisor)] ?? advisor.name.slice(0, 2)}
    </abbr>
  );
}
