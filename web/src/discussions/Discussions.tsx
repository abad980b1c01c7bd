import { useTitle } from "../shell/Shell";

export default function Discussions() {
  useTitle("Discussions");
  return (
    <div className="page">
      <h1>Discussions</h1>
    </div>
  );
}
