import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./icons";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  /** Shown in the hint, and told to assistive technology. */
  shortcut?: string;
  children: ReactNode;
}

export function Button({ look = "plain", icon, shortcut, children, className, ...rest }: Props) {
  return (
    <button
      type="button"
      className={["button", look, className].filter(Boolean).join(" ")}
      aria-keyshortcuts={shortcut}
      title={shortcut && `Shortcut: ${shortcut}`}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  label: string;
}

export function IconButton({ icon, label, className, ...rest }: IconProps) {
  return (
    <button
      type="button"
      className={["icon-button", className].filter(Boolean).join(" ")}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
