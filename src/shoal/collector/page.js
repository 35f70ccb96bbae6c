// The form of a campaign's page. Key and token come after the # of the invitation, which browsers
// do not send; without a key there, the one on the page is used, and the page says so.
import { Client, Refused, USUAL_LIMITS, atMost, fromHex } from "./client.js";

const given = new URLSearchParams(location.hash.slice(1));
const element = (id) => document.getElementById(id);
const form = element("form"), answer = element("answer"), send = element("send");
const isKey = (text) => /^[0-9a-f]{64}$/.test(text ?? "");
const key = given.get("key") ?? document.body.dataset.key;
const { enrolment, opens, closes, setting } = document.body.dataset;
const isShared = setting === "two_aggregators";
const sentences = {
  sent: isShared ? "Both parts of your answer have arrived, one at each server."
    : "Your randomised report has arrived. It is kept, and never drawn again.",
  wait: "Your question is not there yet: please come back later. Nothing was sent.",
  closed: "The campaign is closed.",
  unreachable: isShared ? "A server did not answer. Both parts stay in this browser until they have " +
    "arrived: try again, before others use this device."
    : "The server did not answer. Try again later: a report that was drawn is kept.",
};
const next = enrolment === "open" ? " The next person at this device says so with the button."
  : " The next person at this device opens their own invitation.";
// What can be shown:
const readable = { epsilon: "20", ceiling: "20", setting: "two_aggregators", nearby: true };
let hasReported = false; // the person of now, from this device
let limits = { ...USUAL_LIMITS }; // what is taken without a word

function clientOf(allowed) {
  if (!isKey(key) || (given.has("token") && !isKey(given.get("token")))) {
    throw new Refused("The invitation is damaged: open the whole link.");
  }
  const token = given.has("token") ? fromHex(given.get("token")) : null;
  const address = location.origin + location.pathname.replace(/\/[^/]*$/, "");
  return new Client(address, fromHex(key), { token, limits: allowed });
}

/** What was entered; refused where a number lies outside the bounds that people read. */
function record() {
  const select = form.querySelector("select");
  if (select) {
    if (select.value === "") throw new Refused("Choose an answer first.");
    return Number(select.value);
  }
  return Array.from(form.querySelectorAll("input[type=number]"), (input) => {
    const value = input.valueAsNumber, low = Number(input.min), high = Number(input.max);
    if (!(value >= low && value <= high)) {
      throw new Refused(`${input.dataset.name} must be a number from ${low} to ${high}.`);
    }
    return value;
  });
}

async function run(work, allowed = limits) {
  try {
    answer.textContent = await work(clientOf(allowed));
  } catch (error) {
    answer.textContent = error instanceof Refused ? error.message : "Something went wrong here.";
  }
}

// What was entered does not stay for the next person at this device.
async function showHistory(client) {
  const { own, others } = await client.history();
  hasReported = own;
  element("others").hidden = !others;
  element("another").hidden = !(enrolment === "open" && own);
  allowSending();
  return own ? sentences.sent + next : "";
}

/** What a campaign asks for beyond what is usual, in words; empty if nothing. */
function excess(campaign) {
  const lines = [], odds = Math.exp(Number(campaign.epsilon));
  const after = Math.ceil((100 * 0.1 * odds) / (0.9 + 0.1 * odds));
  if (!atMost(campaign.epsilon, USUAL_LIMITS.epsilon)) {
    lines.push("Your report would tell more about you than is usual: a guess of 10 in 100 can " +
      `become one of ${after > 99 ? "over 99" : after} in 100, where 46 in 100 is the usual limit.`);
  }
  if (campaign.setting === "shuffled") {
    lines.push("Only sums are to be shown, and for that you would have to trust the server. " +
      "Against the server itself you have the limit above and no more.");
  }
  if (isShared) {
    const [first, second] = campaign.aggregators.map((one) => new URL(one.address).host);
    lines.push(`Your answer would be split between ${first} and ${second}, who together could read ` +
      `it. The program that splits it comes from ${location.host}: you would have to trust it not ` +
      "to send itself both parts.");
  }
  const { mechanism, radius, unit } = campaign.rounds[0].question;
  if (mechanism === "nd_laplace") {
    const near = unit === "km" && Number(radius) < 1 ? `${Number(radius) * 1000} m` : `${radius} ${unit}`;
    lines.push(element("position")
      ? `Places within ${near.trim()} look alike in your report. Which part of town you are in does not: ` +
        "the further two places are apart, the better your report tells them apart."
      : `Values within ${near.trim()} of each other look alike in your report. Values far apart do not: ` +
        "the further apart, the better your report tells them apart.");
  }
  return lines.join(" ");
}

/** Fill the form with where the browser says that one is; refused where that is out of bounds. */
function usePosition() {
  const fields = form.querySelectorAll("input[type=number]");
  navigator.geolocation.getCurrentPosition(({ coords }) => {
    fields[0].value = coords.latitude.toFixed(6);
    fields[1].value = coords.longitude.toFixed(6);
    answer.textContent = "Your position is filled in. Nothing was sent yet.";
  }, () => {
    answer.textContent = "Your browser gave no position. Enter it yourself, or allow it.";
  }, { enableHighAccuracy: true, timeout: 20000 });
}

function isOpen() {
  const now = new Date();
  return now >= new Date(opens) && now <= new Date(closes);
}

function allowSending() {
  send.disabled = hasReported || !isOpen() || (!element("consent").hidden && !element("agree").checked);
}

async function begin(client) {
  const [campaign] = await client.campaign({ mustBeOpen: false });
  const text = excess(campaign);
  element("consent").hidden = text === "";
  element("consent-text").textContent = text;
  element("agree").addEventListener("change", () => {
    const { epsilon, setting } = campaign, isSmall = atMost(epsilon, USUAL_LIMITS.ceiling);
    const ceiling = isSmall ? USUAL_LIMITS.ceiling : epsilon;
    const nearby = campaign.rounds[0].question.mechanism === "nd_laplace";
    limits = element("agree").checked ? { epsilon, ceiling, setting, nearby } : { ...USUAL_LIMITS };
    allowSending();
  });
  const history = await showHistory(client);
  if (new Date() > new Date(closes)) return history || sentences.closed;
  if (!isOpen()) return "The campaign has not opened yet.";
  return history;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run(async (client) => {
    const result = await client.takePart(record());
    if (result !== "sent") return sentences[result];
    form.reset();
    return showHistory(client);
  });
});
element("label").addEventListener("click", () => {
  run(async (client) => `You are in group ${(await client.label(record())) + 1}. Nobody was told.`,
    readable);
});
element("position")?.addEventListener("click", usePosition);
element("another").addEventListener("click", () => {
  run(async (client) => {
    await client.startAsAnotherPerson();
    form.reset();
    return showHistory(client);
  }, readable);
});
// Another invitation in the same tab changes what follows the # alone: it is another person's.
addEventListener("hashchange", () => {
  form.reset();
  location.reload();
});
for (const time of document.querySelectorAll("time")) {
  const at = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = at.toLocaleString([], { dateStyle: "long", timeStyle: "short" });
}
if (new Date() > new Date(closes)) {
  element("when").firstChild.textContent = "Closed since ";
}
run(begin, readable).then(() => {
  allowSending();
  setInterval(allowSending, 10000); // it may close while the page is open
  form.dataset.ready = "true"; // before this line a click would do nothing
});
