import {
  useId,
  useLayoutEffect,
  useRef,
  type InputHTMLAttributes,
  type KeyboardEvent,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";
import { Inline } from "./Inline";
import { isSendingLong } from "./keys";

interface Common {
  label: string;
  /** Only for those who cannot see where the field stands. */
  labelUnseen?: boolean;
  hint?: ReactNode;
  /** What is wrong with it. */
  wrong?: string | undefined;
}

interface Described {
  id: string;
  "aria-invalid": boolean | undefined;
  "aria-describedby": string | undefined;
}

/** A label, a hint and what is wrong, tied to whatever is filled in. */
export function Field({
  label,
  labelUnseen = false,
  hint,
  wrong,
  children,
}: Common & { children: (described: Described) => ReactNode }) {
  const id = useId();
  const notes = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id} className={labelUnseen ? "unseen" : undefined}>
        {label}
      </label>
      {children({
        id,
        "aria-invalid": wrong ? true : undefined,
        "aria-describedby": notes || undefined,
      })}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span className="wrong" id={`${id}-wrong`} role="alert">
          <Inline text={inWords(label, wrong)} />
        </span>
      )}
    </div>
  );
}

/** What the server says of a field is the end of a sentence that begins with its name. */
function inWords(label: string, wrong: string): string {
  if (!/^\p{Ll}/u.test(wrong)) return wrong;
  return `${label.replace(/ \([^)]*\)$/, "")} ${wrong.replace(/\.$/, "")}.`;
}

type Changed = { target: { value: string } };

/** Ties fields to a draft of texts: what each holds, what the server says of it, its changes. */
export function bound<Draft extends object>(
  draft: Draft,
  change: (to: Partial<Draft>) => void,
  problem: { field: (name: string) => string | undefined } | undefined,
) {
  return (name: keyof Draft & string, wire: string = name) => ({
    value: draft[name] as string,
    wrong: problem?.field(wire),
    onChange: ({ target }: Changed) => change({ [name]: target.value } as Partial<Draft>),
  });
}

export function TextField({
  label,
  labelUnseen,
  hint,
  wrong,
  ...rest
}: Common & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field {...{ label, labelUnseen, hint, wrong }}>
      {(described) => <input className="input" autoComplete="off" {...described} {...rest} />}
    </Field>
  );
}

interface Options {
  /** What choosing nothing means, in words; it comes first. */
  none?: string;
  /** Values and what they are called; after what stands inside. */
  options?: readonly (readonly [value: string | number, words: string])[];
}

export function SelectField({
  label,
  labelUnseen,
  hint,
  wrong,
  none,
  options = [],
  children,
  ...rest
}: Common & Options & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field {...{ label, labelUnseen, hint, wrong }}>
      {(described) => (
        <select className="input" {...described} {...rest}>
          {none !== undefined && <option value="">{none}</option>}
          {children}
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Grows with its text, up to a part of the window. */
export function TextArea({
  label,
  labelUnseen,
  hint,
  wrong,
  value,
  rows = 3,
  ...rest
}: Common & TextareaHTMLAttributes<HTMLTextAreaElement> & { value: string }) {
  return (
    <Field {...{ label, labelUnseen, hint, wrong }}>
      {(described) => (
        <GrowingArea className="input" rows={rows} value={value} {...described} {...rest} />
      )}
    </Field>
  );
}

/** In a form, Ctrl or Command with Enter sends it. */
export function GrowingArea({
  value,
  onKeyDown,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { value: string }) {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (area.current) fit(area.current);
  }, [value]);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return undefined;
    // Inside a dialog that is not open yet there is nothing to measure.
    let width = element.clientWidth;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) fit(element);
      width = element.clientWidth;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    onKeyDown?.(event);
    if (event.defaultPrevented || !isSendingLong(event)) return;
    const button = event.currentTarget.form?.querySelector<HTMLButtonElement>("[type=submit]");
    if (!button) return;
    event.preventDefault();
    button.click();
  };
  return <textarea ref={area} value={value} onKeyDown={press} {...rest} />;
}

function fit(element: HTMLTextAreaElement): void {
  element.style.height = "auto";
  if (element.scrollHeight === 0) return;
  const most = window.innerHeight * 0.4;
  element.style.height = `${Math.min(element.scrollHeight + 2, most)}px`;
  element.style.overflowY = element.scrollHeight > most ? "auto" : "hidden";
}
