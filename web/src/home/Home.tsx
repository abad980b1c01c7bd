import { useTitle } from "../shell/Shell";

export default function Home() {
  useTitle("Home");
  return (
    <div className="page">
      <h1>Home</h1>
    </div>
  );
}
