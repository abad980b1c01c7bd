// The browser's own dialog: it keeps the focus inside, closes with Escape, and gives the
// focus back.

import { useId, useLayoutEffect, useRef, type ReactNode } from "react";
import { Announcer } from "./announce";
import { IconButton } from "./Button";

const FIELDS =
  "textarea:not(:disabled), select:not(:disabled), " +
  "input:not(:disabled, [hidden], [type=radio], [type=checkbox])";

interface Props {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
  /** Buttons, at the end. */
  foot?: ReactNode;
  /** Makes it a form, which a button of type `submit` sends. */
  onSubmit?: () => void;
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, wide = false, children, foot, onSubmit }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed while it is still on the page: only then the browser gives the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element && !element.open) {
      element.showModal();
      // What is to be filled in comes before the way out.
      element.querySelector<HTMLElement>(FIELDS)?.focus();
    }
    return () => element?.close();
  }, []);
  const inside = (
    <>
      {children}
      {foot && <div className="dialog-foot">{foot}</div>}
    </>
  );
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
      {onSubmit ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            // In React's tree, though not in the page's, another form may be around this one.
            event.stopPropagation();
            onSubmit();
          }}
        >
          {inside}
        </form>
      ) : (
        inside
      )}
      {/* Everything behind the dialog is out of reach, also for those who listen. */}
      <Announcer />
    </dialog>
  );
}

function isOutside(event: React.MouseEvent<HTMLDialogElement>): boolean {
  const box = event.currentTarget.getBoundingClientRect();
  const { clientX: x, clientY: y } = event;
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}
