import { readFileSync, readdirSync } from "node:fs";
const dir = process.argv[2] ?? "/tmp/prof"; const f = readdirSync(dir).filter(x=>x.endsWith("cpuprofile")).sort().at(-1);
const p = JSON.parse(readFileSync(dir + "/" + f)); const by = new Map(p.nodes.map(n => [n.id, n]));
const self = new Map(); let tot = 0;
const skip = Number(process.argv[3] ?? 3e6); let t = 0;
p.samples.forEach((s, i) => { t += p.timeDeltas[i]; if (t < skip) return; self.set(s, (self.get(s) ?? 0) + p.timeDeltas[i]); });
const parent = new Map(); for (const n of p.nodes) for (const c of n.children ?? []) parent.set(c, n.id);
const name = n => `${n.callFrame.functionName || "(anon)"} ${n.callFrame.url.split("/").slice(-2).join("/")}:${n.callFrame.lineNumber + 1}`;
const selfBy = new Map(), totalBy = new Map();
for (const [id, v] of self) { const n = by.get(id); const nm = name(n); if (nm.startsWith("(idle)")) continue; tot += v; selfBy.set(nm, (selfBy.get(nm) ?? 0) + v);
  const seen = new Set(); for (let x = id; x !== undefined; x = parent.get(x)) { const k = name(by.get(x)); if (seen.has(k)) continue; seen.add(k); totalBy.set(k, (totalBy.get(k) ?? 0) + v); } }
const show = (m, k) => [...m].sort((a, b) => b[1] - a[1]).slice(0, k).forEach(([nm, v]) => console.log((100 * v / tot).toFixed(1).padStart(6), nm));
console.log("SELF"); show(selfBy, 60); console.log("TOTAL"); show(totalBy, 110);
