import { expect, story } from "../stage";

const TOKEN = "a-token-for-the-story-of-access";

story(
  "a server with a token lets a browser in by a cookie, and out again",
  async ({ server, person }) => {
    const somebody = await person();
    const { page, context } = somebody;
    // The browser notes every refusal on its console.
    somebody.forgive(/status of 401/);
    await page.goto("/");
    const prompt = page.getByRole("heading", { name: "This server wants a token" });
    await prompt.waitFor();
    expect(await context.cookies()).toEqual([]);

    const comeIn = page.getByRole("button", { name: "Come in" });
    await page.getByLabel("Token").fill("not-the-token");
    await comeIn.click();
    await page.getByRole("alert").waitFor();
    expect(await context.cookies()).toEqual([]);

    await page.getByLabel("Token").fill(TOKEN);
    await comeIn.click();
    const inside = page.getByRole("heading", { level: 1, name: "What needs deciding?" });
    await inside.waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    expect(cookie?.value).not.toContain(TOKEN);
    expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toContain(
      TOKEN,
    );

    await page.reload();
    await inside.waitFor();

    // The live stream comes by the cookie too: what others begin shows by itself.
    const made = await server.api.POST("/api/boardrooms", { body: { prompt: "Is it seen?" } });
    expect(made.response.status).toBe(201);
    await page.getByRole("main").getByRole("link", { name: "Is it seen?" }).waitFor();

    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await prompt.waitFor();
    expect(await context.cookies()).toEqual([]);
    await page.reload();
    await prompt.waitFor();
  },
  { PLENARY_TOKEN: TOKEN },
);
