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
    const prompt = page.getByRole("heading", { name: "Access token required" });
    await prompt.waitFor();
    expect(await context.cookies()).toEqual([]);

    const signIn = page.getByRole("button", { name: "Sign in" });
    await page.getByLabel("Access token").fill("not-the-token");
    await signIn.click();
    await page.getByRole("alert").waitFor();
    expect(await context.cookies()).toEqual([]);

    await page.getByLabel("Access token").fill(TOKEN);
    await signIn.click();
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

    // Nothing that was written or proven stays behind for whoever comes next.
    await page.evaluate(() => {
      localStorage.setItem("plenary.theme", '"dark"');
      localStorage.setItem("plenary.home.prompt", '"A secret draft"');
      localStorage.setItem("plenary.whiteboard.plan", '{"identities":[{"token":"a-secret"}]}');
    });
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await prompt.waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual(["plenary.theme"]);
    await page.reload();
    await prompt.waitFor();
  },
  { PLENARY_TOKEN: TOKEN },
);
