// The browser's own dialog: it keeps the focus inside, closes with Escape, and gives the
// focus back.

import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./Button";

interface Props {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
  /** Buttons, at the end. */
  foot?: ReactNode;
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, wide = false, children, foot }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current && event.detail > 0 && isOutside(event)) onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={heading}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
      {foot && <div className="dialog-foot">{foot}</div>}
    </dialog>
  );
}

function isOutside(event: React.MouseEvent<HTMLDialogElement>): boolean {
  const box = event.currentTarget.getBoundingClientRect();
  const { clientX: x, clientY: y } = event;
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}
