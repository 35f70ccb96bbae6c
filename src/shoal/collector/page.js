// The form of a campaign's page. Key and token come after the # of the invitation, which browsers
// do not send; without a key there, the one on the page is used, and the page says so.
import { Client, Refused, fromHex } from "./client.js";

const given = new URLSearchParams(location.hash.slice(1));
const form = document.getElementById("form"), answer = document.getElementById("answer");
const isKey = (text) => /^[0-9a-f]{64}$/.test(text ?? "");
const key = given.get("key") ?? document.body.dataset.key;
const limits = { epsilon: given.get("limit") ?? "20", ceiling: "20", setting: "shuffled" };
const sentences = {
  sent: "Your randomised report has arrived. It is kept, and never drawn again.",
  wait: "Your question is not there yet: please come back later.",
  closed: "The campaign is closed.",
  unreachable: "The server did not answer. Your report is kept: try again later.",
};

function record() {
  const values = Array.from(new FormData(form).values());
  const isCategory = form.querySelector("select") !== null;
  return isCategory ? Number(values[0]) : values.map((text) => (text === "" ? null : Number(text)));
}

async function run(work) {
  try {
    if (!isKey(key) || (given.has("token") && !isKey(given.get("token")))) {
      throw new Refused("The invitation is damaged.");
    }
    const token = given.has("token") ? fromHex(given.get("token")) : null;
    const client = new Client(location.origin, fromHex(key), { token, limits });
    answer.textContent = await work(client);
  } catch (error) {
    answer.textContent = error instanceof Refused ? error.message : "Something went wrong here.";
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(async (client) => sentences[await client.takePart(record())]);
});
document.getElementById("label").addEventListener("click", () => {
  run(async (client) => `You are in group ${(await client.label(record())) + 1}. Nobody was told.`);
});
document.getElementById("send").disabled = false; // before this line a click would do nothing
