import { useTitle } from "../shell/Shell";

export default function Whiteboards() {
  useTitle("Whiteboards");
  return (
    <div className="page">
      <h1>Whiteboards</h1>
    </div>
  );
}
