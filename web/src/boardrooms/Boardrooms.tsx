import { useTitle } from "../shell/Shell";

export default function Boardrooms() {
  useTitle("Boardroom");
  return (
    <div className="page">
      <h1>Boardroom</h1>
    </div>
  );
}
