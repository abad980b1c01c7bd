import { Component, type ReactNode } from "react";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";

/** A page that broke says so; the rest goes on. */
export class Crash extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="page">
        <Notice
          look="bad"
          action={<Button onClick={() => window.location.reload()}>Reload</Button>}
        >
          <p>Something went wrong on this page. Your sessions are safe: they run on the server.</p>
          <p className="mono">{error.message}</p>
        </Notice>
      </div>
    );
  }
}
