import { useState } from "react";
import { Markdown } from "../markdown/Markdown";
import { Dialog } from "../ui/Dialog";
import { SelectField } from "../ui/Field";
import { shortModel } from "../ui/ModelSelect";
import type { Synthesis } from "./board";
import { SECTIONS, sectionOf, sections } from "./sections";
import { inSentenceCase } from "./Verdict";

interface Props {
  syntheses: readonly Synthesis[];
  onClose: () => void;
}

/** Two verdicts side by side, section by section. */
export function Compare({ syntheses, onClose }: Props) {
  const [left, setLeft] = useState(syntheses.at(-2)?.number ?? 1);
  const [right, setRight] = useState(syntheses.at(-1)?.number ?? 1);
  const find = (number: number) => syntheses.find((one) => one.number === number);
  const pair = [find(left), find(right)];
  const choose = (label: string, value: number, set: (number: number) => void) => (
    <SelectField
      label={label}
      labelUnseen
      value={value}
      options={syntheses.map(({ number, model, instruction }) => [
        number,
        [`v${number}`, shortModel(model), instruction].filter(Boolean).join(" · "),
      ])}
      onChange={(event) => set(Number(event.target.value))}
    />
  );
  return (
    <Dialog title="Compare two verdicts" wide onClose={onClose}>
      <div className="compare">
        {choose("Left", left, setLeft)}
        {choose("Right", right, setRight)}
        {SECTIONS.map((name) => {
          const [one = "", other = ""] = pair.map(
            (synthesis) => synthesis && sectionOf(synthesis.text, name),
          );
          const isSame = one === other;
          return (
            <div key={name} className="compare-row">
              <h3>
                {inSentenceCase(name)}
                {isSame && one !== "" && <span className="muted"> · the same in both</span>}
              </h3>
              <div className={isSame ? "both" : undefined}>
                {!isSame && <p className="muted small">v{left}</p>}
                <Part text={one} />
              </div>
              {!isSame && (
                <div>
                  <p className="muted small">v{right}</p>
                  <Part text={other} />
                </div>
              )}
            </div>
          );
        })}
        {pair.map((synthesis, place) => (
          <div key={place}>
            {synthesis && sections(synthesis.text).every((one) => one.name === undefined) && (
              <Markdown text={synthesis.text} under={3} />
            )}
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function Part({ text }: { text: string }) {
  return text === "" ? <p className="muted">Nothing here.</p> : <Markdown text={text} under={3} />;
}
