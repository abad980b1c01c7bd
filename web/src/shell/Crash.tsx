import { Component, type ReactNode } from "react";
import { forgetAllBut, rememberedNames } from "../stored";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { Notice } from "../ui/Notice";

interface State {
  error?: Error;
  isAsking?: boolean;
}

/**
 * A page that broke says so; the rest goes on. Where it would break again, over what this
 * browser has stored, that can be discarded.
 */
export class Crash extends Component<{ children: ReactNode }, State> {
  override state: State = {};

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error, isAsking } = this.state;
    const discard = () => {
      forgetAllBut();
      window.location.reload();
    };
    if (!error) return this.props.children;
    return (
      <div className="page">
        <Notice
          look="bad"
          action={<Button onClick={() => window.location.reload()}>Reload</Button>}
        >
          <p>Something went wrong on this page. Your sessions are safe: they run on the server.</p>
          <p className="mono">{error.message}</p>
          {rememberedNames().length > 0 && (
            <p>
              If it happens again, what this browser has stored may be the cause.{" "}
              <button
                type="button"
                className="link-button"
                onClick={() => this.setState({ isAsking: true })}
              >
                Discard it…
              </button>
            </p>
          )}
        </Notice>
        {isAsking && (
          <Confirm
            title="Discard what is stored in this browser?"
            action="Discard and reload"
            look="danger"
            onClose={() => this.setState({ isAsking: false })}
            onSure={discard}
          >
            <p>
              Your unsent drafts go, and the tokens of the agents that only this browser can act as.
              Sessions are on the server and stay.
            </p>
          </Confirm>
        )}
      </div>
    );
  }
}
