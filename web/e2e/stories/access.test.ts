import { expect, story } from "../stage";

const TOKEN = "a-token-for-the-story-of-access";

story(
  "a server with a token lets a browser in by a cookie",
  async ({ server, person }) => {
    const { page, context, ...somebody } = await person();
    void somebody;
    await page.goto("/");
    await page.getByRole("heading", { name: "This server wants a token" }).waitFor();
    expect(await context.cookies()).toEqual([]);

    const come = page.getByRole("button", { name: "Come in" });
    await page.getByLabel("Token").fill("not-the-token");
    await come.click();
    await page.getByText("token", { exact: false }).first().waitFor();
    void server;
  },
  { PLENARY_TOKEN: TOKEN },
);
