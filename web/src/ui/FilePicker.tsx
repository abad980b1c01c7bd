// A button of any kind that lets somebody choose files.

import { useRef, type ReactNode } from "react";

interface Props {
  label: string;
  accept?: string;
  multiple?: boolean;
  onPick: (files: File[]) => void;
  /** What is pressed. */
  children: (pick: () => void) => ReactNode;
}

export function FilePicker({ label, onPick, children, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      {children(() => input.current?.click())}
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          // So that the same one can be chosen again.
          event.target.value = "";
          if (files.length > 0) onPick(files);
        }}
        {...rest}
      />
    </>
  );
}
