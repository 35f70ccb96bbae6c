// The form of a campaign's page. Key and token come after the # of the invitation, which browsers
// do not send; without a key there, the one on the page is used, and the page says so.
import { Client, Refused, fromHex } from "./client.js";

const given = new URLSearchParams(location.hash.slice(1));
const form = document.getElementById("form"), answer = document.getElementById("answer");
const send = document.getElementById("send"), another = document.getElementById("another");
const isKey = (text) => /^[0-9a-f]{64}$/.test(text ?? "");
const key = given.get("key") ?? document.body.dataset.key;
const isOpen = document.body.dataset.enrolment === "open";
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

// What was entered does not stay for the next person at this device.
async function showHistory(client) {
  const { own, others } = await client.history();
  document.getElementById("others").hidden = !others;
  another.hidden = !(isOpen && own);
  return own ? sentences.sent : "";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(async (client) => {
    const result = await client.takePart(record());
    if (result === "sent") {
      form.reset();
      await showHistory(client);
    }
    return sentences[result];
  });
});
document.getElementById("label").addEventListener("click", () => {
  run(async (client) => `You are in group ${(await client.label(record())) + 1}. Nobody was told.`);
});
another.addEventListener("click", () => {
  run(async (client) => {
    await client.startAsAnotherPerson();
    form.reset();
    return showHistory(client);
  });
});
// Another invitation in the same tab changes what follows the # alone: it is another person's.
addEventListener("hashchange", () => {
  form.reset();
  location.reload();
});
run(showHistory).then(() => {
  const { opens, closes } = document.body.dataset, now = new Date();
  send.disabled = now < new Date(opens) || now > new Date(closes);
  form.dataset.ready = "true"; // before this line a click would do nothing
});
