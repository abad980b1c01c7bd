import { useTitle } from "../shell/Shell";

export default function Boardroom(_: { id: string }) {
  useTitle("Boardroom");
  return (
    <div className="page">
      <h1>Boardroom</h1>
    </div>
  );
}
