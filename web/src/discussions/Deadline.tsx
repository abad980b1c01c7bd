import { SelectField } from "../ui/Field";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const DEADLINES: readonly { seconds: number; words: string }[] = [
  { seconds: MINUTE, words: "1 minute" },
  { seconds: 5 * MINUTE, words: "5 minutes" },
  { seconds: 15 * MINUTE, words: "15 minutes" },
  { seconds: HOUR, words: "1 hour" },
  { seconds: 4 * HOUR, words: "4 hours" },
  { seconds: DAY, words: "1 day" },
  { seconds: 3 * DAY, words: "3 days" },
  { seconds: 7 * DAY, words: "7 days" },
];

interface Props {
  seconds: number | undefined;
  labelUnseen?: boolean;
  onChange: (value: { replyWithinSeconds?: number }) => void;
}

/** How long a person has for a reply. */
export function Deadline({ seconds, labelUnseen = false, onChange }: Props) {
  return (
    <SelectField
      label="Time to reply"
      labelUnseen={labelUnseen}
      value={seconds ?? ""}
      onChange={({ target }) =>
        onChange(target.value === "" ? {} : { replyWithinSeconds: Number(target.value) })
      }
      none="No limit"
      options={DEADLINES.map((one) => [one.seconds, one.words])}
    />
  );
}
