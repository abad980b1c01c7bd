import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Icon, type IconName } from "./icons";

export interface MenuItem {
  label: string;
  icon?: IconName;
  run?: () => void;
  /** A link in place of something to run. */
  href?: string;
  /** The name under which the link's target is kept. */
  download?: string;
}

interface Props {
  label: string;
  icon?: IconName;
  /** In place of the label, for a button that is only a drawing. */
  face?: ReactNode;
  items: MenuItem[];
  align?: "start" | "end";
  className?: string;
}

/** A button that opens a list of things to do. Arrows move, Escape closes. */
export function Menu({ label, icon, face, items, align = "end", className = "button" }: Props) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();

  useEffect(() => {
    if (!isOpen) return undefined;
    entries(list.current)[0]?.focus();
    const leave = (event: PointerEvent) => {
      if (!anchor.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    return () => document.removeEventListener("pointerdown", leave);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    anchor.current?.querySelector("button")?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = entries(list.current);
    const here = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      if (event.key === "Escape") event.preventDefault();
      close();
    } else if (to !== undefined) {
      event.preventDefault();
      all.at(to % all.length)?.focus();
    }
  };

  return (
    <div className="menu-anchor" ref={anchor}>
      <button
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={face === undefined ? undefined : label}
        title={face === undefined ? undefined : label}
        onClick={() => setOpen(!isOpen)}
      >
        {icon && <Icon name={icon} />}
        {face ?? label}
      </button>
      {isOpen && (
        <div
          id={id}
          ref={list}
          role="menu"
          aria-label={label}
          className={align === "start" ? "menu start" : "menu"}
          onKeyDown={move}
        >
          {items.map((item) =>
            item.href === undefined ? (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                onClick={() => {
                  close();
                  item.run?.();
                }}
              >
                {item.icon && <Icon name={item.icon} />}
                {item.label}
              </button>
            ) : (
              <a
                key={item.label}
                role="menuitem"
                tabIndex={-1}
                href={item.href}
                download={item.download ?? ""}
                onClick={close}
              >
                {item.icon && <Icon name={item.icon} />}
                {item.label}
              </a>
            ),
          )}
        </div>
      )}
    </div>
  );
}

function entries(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])];
}
