import type { ReactNode } from "react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { FormProblem } from "./FormProblem";
import type { IconName } from "./icons";

interface Props {
  title: string;
  action: string;
  /** While it is done. */
  doing?: string;
  icon?: IconName;
  look?: "primary" | "danger";
  cancel?: string;
  /** A further button, before the others. */
  extra?: ReactNode;
  wide?: boolean;
  /** Whether everything is there that the action needs. */
  isReady?: boolean;
  isBusy?: boolean;
  error?: unknown;
  onClose: () => void;
  onSure: () => void;
  children: ReactNode;
}

/** A dialog with one thing to do: it asks whether that is meant, or for what it needs. */
export function Confirm(props: Props) {
  const { title, action, doing = action, icon, look = "primary", wide = false, onClose } = props;
  const { isReady = true, isBusy = false } = props;
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={onClose}
      onSubmit={props.onSure}
      foot={
        <>
          {props.extra}
          <Button onClick={onClose}>{props.cancel ?? "Cancel"}</Button>
          <Button type="submit" look={look} {...(icon && { icon })} disabled={isBusy || !isReady}>
            {isBusy ? doing : action}
          </Button>
        </>
      }
    >
      <div className="stack">
        {props.children}
        <FormProblem error={props.error} />
      </div>
    </Dialog>
  );
}
