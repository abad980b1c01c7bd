import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from "react";
import { Icon, type IconName } from "./icons";

export interface MenuItem {
  label: string;
  icon?: IconName;
  run?: () => void;
  /** A link to a file, in place of something to run. */
  href?: string;
  /** What the file is called, where the server does not say so. */
  download?: string;
  /** Of several that exclude each other: whether this one holds. */
  isChosen?: boolean;
}

/** Files to export, as they are called among other things to do. */
export function asExports(items: readonly MenuItem[]): MenuItem[] {
  return items.map((item) =>
    item.href === undefined ? item : { ...item, label: `Export as ${item.label}` },
  );
}

interface Props {
  label: string;
  icon?: IconName;
  /** In place of the label, for a button that is only a drawing. */
  face?: ReactNode;
  items: MenuItem[];
  className?: string;
}

/**
 * A button that opens a list of things to do. Arrows move, Escape closes. The list lies above
 * everything, so that no box cuts it off, and inside the window, wherever its button is.
 */
export function Menu({ label, icon, face, items, className = "button" }: Props) {
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
  useLayoutEffect(() => {
    const [menu, button] = [list.current, anchor.current];
    if (!isOpen || !menu || !button) return undefined;
    menu.showPopover?.();
    // A page on which somebody writes scrolls by itself.
    const stay = () => place(menu, button.getBoundingClientRect());
    stay();
    document.addEventListener("scroll", stay, { capture: true, passive: true });
    window.addEventListener("resize", stay);
    return () => {
      document.removeEventListener("scroll", stay, { capture: true });
      window.removeEventListener("resize", stay);
    };
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
          popover="manual"
          className="menu"
          onKeyDown={move}
        >
          {items.map((item) =>
            item.href === undefined ? (
              <button
                key={item.label}
                type="button"
                role={item.isChosen === undefined ? "menuitem" : "menuitemradio"}
                aria-checked={item.isChosen}
                tabIndex={-1}
                onClick={() => {
                  close();
                  item.run?.();
                }}
              >
                {item.isChosen && <Icon name="check" />}
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
  return [...(list?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
}

const EDGE_PX = 8;
const GAP_PX = 4;

/** Beneath its button, or above it where there is more room; its right end at the button's. */
function place(menu: HTMLElement, button: DOMRect): void {
  const { width } = menu.getBoundingClientRect();
  const height = menu.scrollHeight;
  const { clientWidth, clientHeight } = document.documentElement;
  const below = clientHeight - button.bottom - GAP_PX - EDGE_PX;
  const above = button.top - GAP_PX - EDGE_PX;
  const isBelow = height <= below || below >= above;
  const left = Math.min(button.right - width, clientWidth - width - EDGE_PX);
  menu.style.left = `${Math.max(EDGE_PX, left)}px`;
  menu.style.maxHeight = `${isBelow ? below : above}px`;
  menu.style.top = isBelow ? `${button.bottom + GAP_PX}px` : "auto";
  menu.style.bottom = isBelow ? "auto" : `${clientHeight - button.top + GAP_PX}px`;
}
