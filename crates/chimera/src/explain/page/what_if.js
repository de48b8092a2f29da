// What rules would be with other concepts: p high + (1 - p) low, from the last decision to the first.
const given = data.concepts.map(() => null);
const holds = (rule, p) => {
  const value = [0, 1];
  for (const [concept, low, high] of rule.decisions) value.push(p[concept] * value[high] + (1 - p[concept]) * value[low]);
  return value[rule.root];
};
const cell = (rule, what) => document.querySelector(`td[data-rule="${rule}"][data-${what}]`);
const show = () => {
  const set = seen => seen.map((p, concept) => given[concept] ?? p);
  const p = set(data.concepts), bank = set(data.bank);
  data.rules.forEach((rule, at) => {
    const before = holds(rule, rule.by_bank ? data.bank : data.concepts), after = holds(rule, rule.by_bank ? bank : p);
    cell(at, "before").textContent = before.toFixed(3);
    cell(at, "after").textContent = after.toFixed(3);
    cell(at, "after").dataset.after = after;
    cell(at, "after").className = after > before + 5e-4 ? "win" : after < before - 5e-4 ? "loss" : "";
    cell(at, "after").parentElement.className = Math.abs(after - before) > 5e-4 ? "changed" : "";
  });
};
const press = button => {
  given[button.dataset.concept] = button.dataset.value === "" ? null : Number(button.dataset.value);
  for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
};
document.querySelectorAll("button[data-concept]").forEach(button => button.addEventListener("click", () => { press(button); show(); }));
document.getElementById("reset").addEventListener("click", () => {
  document.querySelectorAll('button[data-value=""]').forEach(press);
  show();
});
show();
