import { useTitle } from "../shell/Shell";

export default function Council(_: { council: string }) {
  useTitle("Council");
  return (
    <div className="page">
      <h1>Council</h1>
    </div>
  );
}
