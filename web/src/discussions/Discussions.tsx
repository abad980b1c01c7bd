import "./discussions.css";
import { Link } from "wouter";
import { SessionList } from "../session/SessionList";
import { Icon } from "../ui/icons";

export const SAMPLE = "Should a team of five run its services as one program or as many?";

const begin = (
  <Link href="/discussions/new" className="button primary">
    <Icon name="plus" />
    New discussion
  </Link>
);

export default function Discussions() {
  return (
    <SessionList
      kind="discussion"
      lead="A facilitator leads the turns, and concludes when enough has been said."
      searches="topics and turns"
      action={begin}
      empty={{
        words: "Several voices take turns on a topic, and the facilitator writes the conclusion.",
        action: (
          <div className="row">
            {begin}
            <Link
              href={`/discussions/new?topic=${encodeURIComponent(SAMPLE)}`}
              className="button quiet"
            >
              Try “{SAMPLE}”
            </Link>
          </div>
        ),
      }}
      about={({ facts }) => facts?.progress}
    />
  );
}
