// Runs vector files through the JavaScript twin; also imported by the page of the browser test.
import * as twin from "TWIN";

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const { fromHex, toHex } = twin;

export async function failures(file) {
  const bad = [];
  const check = (name, actual, expected) => {
    count += 1;
    if (!same(actual, expected)) bad.push(`${name}: ${actual} for ${expected}`);
  };
  let count = 0;
  file.vectors.forEach((vector, i) => {
    const words = new twin.Words(fromHex(vector.random));
    twin.checkQuestion(vector.question, vector.question.epsilon);
    const report = twin.draw(vector.question, vector.record, words);
    check(`vector ${i}`, [report, words.consumed], [vector.report, vector.consumed]);
  });
  (file.lattice ?? []).forEach((vector, i) => {
    const words = new twin.Words(fromHex(vector.random));
    twin.checkQuestion(vector.question, vector.question.epsilon);
    const report = twin.draw(vector.question, vector.record, words);
    check(`lattice ${i}`, [report, words.consumed], [vector.report, vector.consumed]);
  });
  for (const [epsilon, k, threshold] of file.thresholds) {
    check(`threshold ${epsilon} ${k}`, String(twin.keepThreshold(epsilon, k)), threshold);
  }
  const campaign = fromHex(file.key.campaign), token = fromHex(file.key.token);
  const key = await twin.keyOf(token, campaign);
  check("key", toHex(key), file.key.key);
  check("round", await twin.roundOf(campaign, key, file.key.shares), file.key.round);
  for (const [other, round] of file.rounds) {
    check("rounds", await twin.roundOf(campaign, fromHex(other), file.key.shares), round);
  }
  for (const [document, text, id] of file.canonical) {
    check("canonical", twin.canonical(document), text);
    const payload = new TextEncoder().encode(text);
    check("identity", toHex(await twin.identity("campaign", payload)), id);
  }
  const signatures = Array.isArray(file.ed25519) ? file.ed25519 : [{ ...file.ed25519, valid: true }];
  for (const one of signatures) {
    const parts = [one.public, one.message, one.signature].map(fromHex);
    check(`signature ${one.name}`, await twin.verify(...parts), one.valid);
  }
  if (file.batch.body) {
    const reports = file.batch.reports.map(([k, report]) => [fromHex(k), report]);
    check("batch", toHex(twin.batchOf(campaign, file.batch.round, reports)), file.batch.body);
    check("label key", toHex(await twin.keyOf(token, campaign, "label")), file.key.label);
  }
  if (file.lattice_batch) {
    const reports = file.lattice_batch.reports.map(([k, report]) => [fromHex(k), report]);
    check("lattice batch", toHex(twin.batchOf(campaign, file.lattice_batch.round, reports)),
      file.lattice_batch.body);
  }
  for (const { cell, cells, seed, share, tag } of file.shares ?? []) {
    check("share", toHex(await twin.shareOf(cell, cells, fromHex(seed))), share);
    check("tag", toHex(await twin.tagOf(fromHex(seed))), tag);
  }
  if (file.share_batch) {
    const { aggregator, shares, body } = file.share_batch;
    const lines = shares.map((line) => line.map(fromHex));
    check("share batch", toHex(twin.shareBatchOf(campaign, aggregator, lines)), body);
  }
  for (const one of file.labels ?? []) {
    check("label", twin.label(one, one.record, one), one.label);
  }
  return { count, bad };
}
