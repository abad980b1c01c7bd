import type { Advisor } from "./board";
import { initials } from "./initials";

interface Props {
  advisor: Advisor;
  among: readonly Advisor[];
}

/** An advisor by two letters in its colour; its name is told to those who ask or listen. */
export function Initials({ advisor, among }: Props) {
  const all = initials(among.map(({ name }) => name));
  return (
    <abbr className="initials" data-role={advisor.role} title={advisor.name}>
      {all[among.indexOf(advisor)] ?? advisor.name.slice(0, 2)}
    </abbr>
  );
}
