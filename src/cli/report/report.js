'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'class') node.className = value;
      else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const fill = (id, ...nodes) => $(id).replaceChildren(...nodes);

  const number = new Intl.NumberFormat('en-US');
  const n = (value) => number.format(Math.round(value));
  const cents = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const money = (value) => '$' + cents.format(value);
  const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
  const short = (value) => compact.format(value);
  const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(part === whole ? 0 : 1) + '%' : '–');
  const bytes = (value) => {
    const units = ['B', 'KB', 'MB', 'GB', 'TB'];
    let unit = 0;
    while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
    return (unit && value < 10 ? value.toFixed(1) : Math.round(value)) + ' ' + units[unit];
  };
  const span = (minutes) => {
    if (minutes < 60) return minutes + ' min';
    if (minutes < 48 * 60) return (minutes / 60).toFixed(1) + ' h';
    return Math.round(minutes / 1440) + ' d';
  };
  const seconds = (day) => Date.parse(day + 'T00:00:00Z') / 1000;
  const dayOf = (second) => new Date(second * 1000).toISOString().slice(0, 10);
  const weeks = new Map();
  const weekOf = (day) => {
    if (!weeks.has(day)) weeks.set(day, mondayOf(day));
    return weeks.get(day);
  };
  const mondayOf = (day) => {
    const second = seconds(day);
    return dayOf(second - ((new Date(second * 1000).getUTCDay() + 6) % 7) * 86400);
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (index) => '--c' + (index % 8);
  const words = (name) => (name === 'in_progress' ? 'in progress' : name);

  const sessions = data.sessions.map((row, at) => {
    const [id, page, title, project, agent, day, started, ended, outcome, kinds, prompts, calls, failures,
      passed, failed, runs, failedRuns] = row;
    return { at, id, page, title: title || '(no title)', project, agent, day, started, ended, outcome, kinds,
      prompts, calls, failures, passed, failed, runs, failedRuns, tokens: 0, usd: 0, unpriced: 0, days: [],
      text: [id, title, data.projects[project]].join(' ').toLowerCase() };
  });
  for (const [session, day] of data.work) sessions[session].days.push(day);
  for (const one of sessions) if (!one.days.length && one.day) one.days.push(one.day);
  for (const [session, , , input, output, read, write, usd, unpriced] of data.spent) {
    const own = sessions[session];
    own.tokens += input + output + read + write;
    own.usd += usd;
    own.unpriced |= unpriced;
  }

  const chosen = { project: '', agent: '', time: '', text: '', days: null, label: '' };
  let shown = [];
  let isShown = [];
  let workRows = [];
  let spentRows = [];
  let since = '';

  function filter() {
    since = chosen.time ? dayOf(seconds(data.today) - (Number(chosen.time) - 1) * 86400) : '';
    const needle = chosen.text.trim().toLowerCase().split(/\s+/).filter(Boolean);
    isShown = sessions.map((one) => {
      if (chosen.project !== '' && one.project !== Number(chosen.project)) return false;
      if (chosen.agent !== '' && one.agent !== Number(chosen.agent)) return false;
      if (!needle.every((word) => one.text.includes(word))) return false;
      const at = one.days;
      if (since && !at.some((day) => day >= since)) return false;
      return !chosen.days || at.some((day) => day >= chosen.days[0] && day <= chosen.days[1]);
    });
    shown = sessions.filter((one) => isShown[one.at]);
    workRows = data.work.filter(([session, day]) => isShown[session] && inTime(day));
    spentRows = data.spent.filter(([session, day]) => isShown[session] && inTime(day));
  }
  const inTime = (day) => (!since || day >= since) && (!chosen.days || (day >= chosen.days[0] && day <= chosen.days[1]));

  // --- charts ---------------------------------------------------------------------------------
  const charts = [];
  function bars(id, label, days, series, format, pick, whole = true) {
    const holder = $(id);
    const totals = series.map(() => new Array(days.length).fill(0));
    days.forEach((_, at) => {
      let sum = 0;
      series.forEach((one, which) => { totals[which][at] = (sum += one.values[at]); });
    });
    const legend = el('ul', { class: 'legend' }, ...series.map((one, which) => {
      const mark = el('i');
      mark.style.background = `var(${one.colour || colour(which)})`;
      return el('li', {}, mark, one.name);
    }));
    const place = el('div', { role: 'img', 'aria-label': label });
    const told = el('p', { class: 'soft small', role: 'status' }, '\u00a0');
    holder.replaceChildren(legend, place, told);
    if (!days.length) { place.textContent = 'Nothing in this selection.'; return; }
    const axis = { stroke: () => css('--soft'), grid: { stroke: () => css('--line'), width: 1 },
      ticks: { stroke: () => css('--line'), width: 1 }, font: '12px ' + (css('--sans') || 'sans-serif') };
    // what is below stands in front
    const order = series.map((_, which) => which).reverse();
    const chart = new uPlot({
      width: Math.max(260, holder.clientWidth), height: 220, padding: [10, 8, 0, 0], legend: { show: false }, cursor: { y: false, points: { show: false } },
      scales: { x: { time: true, range: (_, low, high) => [low - pad(days), high + pad(days)] },
        y: { range: (_, low, high) => [0, (high || 1) * 1.05] } }, tzDate: (at) => uPlot.tzDate(new Date(at * 1e3), 'Etc/UTC'),
      axes: [axis, { ...axis, size: 62, incrs: [0.01, 0.05, 0.1, 0.5].map((one) => (whole ? 1 : one)).concat(...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => [1, 2, 5].map((one) => one * 10 ** power))),
        values: (_, ticks) => ticks.map((tick) => format(tick).replace(/\.00$/, '')) }],
      series: [{}, ...order.map((which) => ({ label: series[which].name, width: 0, points: { show: false },
        fill: () => css(series[which].colour || colour(which)), paths: uPlot.paths.bars({ size: [0.8, 40], align: 0 }) }))],
      hooks: { setCursor: [(own) => {
        const at = own.cursor.idx;
        told.textContent = at === null || at === undefined ? '\u00a0' : days[at] + ': '
          + series.map((one) => [one.name, one.values[at]]).filter(([, value]) => value > 0)
            .map(([name, value]) => `${name} ${format(value)}`).join(', ');
      }] },
    }, [days.map(seconds), ...order.map((which) => totals[which])], place);
    chart.over.addEventListener('click', () => {
      const at = chart.cursor.idx;
      if (at !== null && at !== undefined) pick(days[at]);
    });
    charts.push({ chart, holder });
  }
  const pad = (days) => (days.length > 1 ? (seconds(days[1]) - seconds(days[0])) * 0.6 : 43200);

  /** All days or weeks from the first to the last. */
  function steps(days, size) {
    const all = [...new Set(days)].sort();
    if (!all.length) return [];
    const out = [];
    for (let at = seconds(all[0]); at <= seconds(all[all.length - 1]); at += size * 86400) out.push(dayOf(at));
    return out;
  }
  /** Days where they fit, else weeks: the step and how a day is named. */
  function grain(days) {
    const all = [...days].sort();
    const wide = all.length && seconds(all[all.length - 1]) - seconds(all[0]) > 120 * 86400;
    return wide ? [7, weekOf] : [1, (day) => day];
  }
  const choose = (size) => (day) => {
    chosen.days = [day, dayOf(seconds(day) + (size - 1) * 86400)];
    chosen.label = size === 1 ? day : 'the week from ' + day;
    draw();
    $('sessions').scrollIntoView({ block: 'start' });
  };

  function activity() {
    const rows = workRows;
    const [size, name] = grain(rows.map((row) => row[1]));
    const days = steps(rows.map((row) => name(row[1])), size);
    const at = new Map(days.map((day, index) => [day, index]));
    const prompts = days.map(() => 0), calls = days.map(() => 0), failures = days.map(() => 0);
    for (const [, day, a, b, c] of rows) {
      const index = at.get(name(day));
      prompts[index] += a; calls[index] += b - c; failures[index] += c;
    }
    bars('c-activity', `Prompts and tool calls by ${size === 1 ? 'day' : 'week'}`, days, [
      { name: 'prompts', values: prompts, colour: '--c1' }, { name: 'tool calls', values: calls, colour: '--c0' },
      { name: 'failed tool calls', values: failures, colour: '--c3' }], short, choose(size));
  }

  function cost() {
    const rows = spentRows;
    const [size, name] = grain(rows.map((row) => row[1]));
    const days = steps(rows.map((row) => name(row[1])), size);
    const at = new Map(days.map((day, index) => [day, index]));
    const models = new Map();
    for (const [, day, model, input, output, read, write, usd, unpriced] of rows) {
      if (!models.has(model)) models.set(model, { model, values: days.map(() => 0), sums: [0, 0, 0, 0], usd: 0, unpriced: 0 });
      const own = models.get(model);
      own.values[at.get(name(day))] += usd;
      [input, output, read, write].forEach((tokens, which) => { own.sums[which] += tokens; });
      own.usd += usd;
      own.unpriced |= unpriced;
    }
    const list = [...models.values()].sort((a, b) => b.usd - a.usd);
    const named = list.slice(0, 7).map((one) => ({ name: data.models[one.model] || '(not named)', values: one.values }));
    const others = list.slice(7);
    if (others.length) named.push({ name: 'others', values: days.map((_, index) => others.reduce((sum, one) => sum + one.values[index], 0)) });
    const format = (value) => (value >= 1000 ? '$' + short(value) : money(value));
    bars('c-cost', `Cost by ${size === 1 ? 'day' : 'week'} and model`, days, named, format, choose(size), false);
    table('c-models', 'pair', [['model'], ['input', 1], ['output', 1], ['cache read', 1, 1], ['cache write', 1, 1], ['cost', 1]],
      list.map((one) => [data.models[one.model] || '(not named)', ...one.sums.map(n), one.unpriced ? 'no price' : money(one.usd)]), 20);
    const missing = data.unpriced.map(([model, tokens]) => `${model || '(not named)'} (${n(tokens)} tokens)`);
    $('prices').textContent = `At the API prices of ${data.prices_as_of}, in US dollars; a subscription's bill is another one.`
      + (missing.length ? ` No price known: ${missing.join(', ')}.` : '')
      + (data.unrecorded ? ` ${n(data.unrecorded)} tokens have no model: run “sessionmill run --rebuild”.` : '');
  }

  function tests() {
    const rows = shown.filter((one) => one.runs && one.day && inTime(one.day));
    const days = steps(rows.map((one) => weekOf(one.day)), 7);
    const at = new Map(days.map((day, index) => [day, index]));
    const green = days.map(() => 0), red = days.map(() => 0);
    for (const one of rows) (one.failed ? red : green)[at.get(weekOf(one.day))] += 1;
    bars('c-tests', 'Sessions with tests by week', days, [
      { name: 'sessions whose last tests passed', values: green, colour: '--c2' },
      { name: 'whose last tests failed', values: red, colour: '--c3' }], short, choose(7));
  }

  function calendar() {
    const sums = new Map();
    for (const [session, day, prompts, calls] of data.work) {
      if (isShown[session]) sums.set(day, (sums.get(day) || 0) + prompts + calls);
    }
    const days = [...sums.keys()].filter((day) => !since || day >= since).sort();
    if (!days.length) return fill('c-calendar', el('p', { class: 'soft' }, 'Nothing in this selection.'));
    const last = seconds(weekOf(days[days.length - 1]));
    const first = Math.max(seconds(weekOf(days[0])), last - 52 * 7 * 86400);
    const ranked = [...sums.values()].sort((a, b) => a - b);
    const level = (value) => 1 + [0.25, 0.5, 0.8].filter((share) => value > ranked[Math.floor(share * (ranked.length - 1))]).length;
    const weeks = [];
    for (let at = first; at <= last; at += 7 * 86400) weeks.push(at);
    let month = '';
    const head = el('tr', {}, el('td'), ...weeks.map((at) => {
      const name = new Date(at * 1000).toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
      const cell = el('td', { class: 'soft' }, name === month ? '' : name);
      cell.style.maxWidth = '13px'; cell.style.overflow = 'visible'; cell.style.whiteSpace = 'nowrap';
      month = name;
      return cell;
    }));
    // a month that ends in its first week has no room for its name
    const [, first1, first2, first3] = head.children;
    if (first1 && ((first2 && first2.textContent) || (first3 && first3.textContent))) first1.textContent = '';
    let tab = 0;
    const rows = ['Mon', '', 'Wed', '', 'Fri', '', 'Sun'].map((name, weekday) => el('tr', {}, el('td', { class: 'soft' }, name),
      ...weeks.map((at) => {
        const day = dayOf(at + weekday * 86400);
        const value = sums.get(day);
        if (!value) return el('td', {}, el('span', { title: day }));
        const on = chosen.days && day >= chosen.days[0] && day <= chosen.days[1] ? ' on' : '';
        const cell = el('button', { type: 'button', class: `l${level(value)}${on}`, title: `${day}: ${n(value)}`,
          'aria-label': `${day}: ${n(value)} prompts and calls`, tabindex: tab ? -1 : 0, 'data-day': day, onclick: () => choose(1)(day) });
        tab = 1;
        return el('td', {}, cell);
      })));
    const body = el('table', { class: 'calendar', role: 'presentation' }, head, ...rows);
    body.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 7, ArrowLeft: -7, ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || !event.target.dataset.day) return;
      event.preventDefault();
      for (let at = seconds(event.target.dataset.day) + step * 86400; at >= first && at < last + 7 * 86400; at += step * 86400) {
        const next = body.querySelector(`[data-day="${dayOf(at)}"]`);
        if (next) { event.target.tabIndex = -1; next.tabIndex = 0; next.focus(); return; }
      }
    });
    fill('c-calendar', body);
    $('c-calendar').scrollLeft = $('c-calendar').scrollWidth;
  }

  // --- tables and lists -------------------------------------------------------------------------
  function table(id, name, heads, rows, limit) {
    if (!rows.length) return fill(id, el('p', { class: 'soft' }, 'Nothing in this selection.'));
    const kind = (at) => [heads[at][1] ? 'n' : { title: 'title', began: 'when' }[heads[at][0]] || '', heads[at][2] ? 'hide-small' : ''].join(' ').trim();
    const row = (cells) => el('tr', {}, ...cells.map((cell, at) => el('td', kind(at) ? { class: kind(at) } : {}, cell)));
    const body = el('tbody', {}, ...rows.slice(0, limit).map(row));
    const head = el('tr', {}, ...heads.map(([text], at) => el('th', { scope: 'col', class: kind(at) }, text)));
    const parts = [el('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': $(id).parentElement.querySelector('h2').textContent }, el('table', { class: name }, el('thead', {}, head), body))];
    more(parts, rows.length, limit, (from, to) => body.append(...rows.slice(from, to).map(row)));
    fill(id, ...parts);
  }
  function list(id, rows, limit) {
    if (!rows.length) return fill(id, el('p', { class: 'soft' }, 'Nothing in this selection.'));
    const body = el('ul', { class: 'points' }, ...rows.slice(0, limit).map((make) => make()));
    const parts = [body];
    more(parts, rows.length, limit, (from, to) => body.append(...rows.slice(from, to).map((make) => make())));
    fill(id, ...parts);
  }
  function more(parts, count, limit, add) {
    if (count <= limit) return;
    let to = limit;
    const button = el('button', { type: 'button', class: 'more noprint', onclick: () => {
      add(to, to + 200);
      to += 200;
      if (to >= count) button.remove(); else button.textContent = label();
    } });
    const label = () => `Show more (${n(count - to)} left)`;
    button.textContent = label();
    parts.push(button);
  }
  function track(part, whole, name) {
    const inner = el('div', { class: 'fill' });
    inner.style.width = (whole ? 100 * part / whole : 0) + '%';
    if (name) inner.style.background = `var(${name})`;
    return el('div', { class: 'track' }, inner);
  }

  function kinds() {
    const sums = data.kinds.map((name, which) => [name, shown.reduce((sum, one) => sum + one.kinds[which], 0)]);
    sums.sort((a, b) => b[1] - a[1]);
    const most = sums[0][1];
    fill('c-kinds', el('div', { class: 'bars' }, ...sums.flatMap(([name, sum]) => [el('span', {}, name), track(sum, most, '--c0'),
      el('span', { class: 'n' }, shown.length ? (sum / 100 / shown.length).toFixed(2) : '–')])),
    el('p', { class: 'soft small' }, 'Mean strength over the sessions, from 0 to 1.'));
  }
  const fits = ([project, agent]) => (chosen.project === '' || project === Number(chosen.project))
    && (chosen.agent === '' || agent === Number(chosen.agent));
  function stages() {
    const sums = [0, 0, 0, 0];
    for (const row of data.stages.filter(fits)) row.slice(2).forEach((value, which) => { sums[which] += value; });
    const names = ['logs read', 'conversation and tool outputs', 'kept of these', 'stored in episodes'];
    fill('c-stages', el('div', { class: 'bars' }, ...names.flatMap((name, which) => [el('span', {}, name), track(sums[which], sums[0], '--c2'),
      el('span', { class: 'n' }, `${bytes(sums[which])}, ${percent(sums[which], sums[0])}`)])),
    el('p', { class: 'soft small' }, `About ${short(sums[0] / 4)} tokens of logs, ${short(sums[3] / 4)} tokens of memory (four bytes a token). By project and agent only.`));
  }
  function tools() {
    const sums = new Map();
    for (const [, , tool, calls, failed] of data.tools.filter(fits)) {
      const own = sums.get(tool) || [0, 0];
      own[0] += calls; own[1] += failed;
      sums.set(tool, own);
    }
    const rows = [...sums].sort((a, b) => b[1][0] - a[1][0]);
    table('c-tools', 'pair', [['tool'], ['calls', 1], ['succeeded', 1]], rows.map(([tool, [calls, failed]]) =>
      [data.tool_names[tool], n(calls), percent(calls - failed, calls)]), 12);
  }
  function projects() {
    const sums = new Map();
    for (const one of shown) {
      const own = sums.get(one.project) || { sessions: 0, prompts: 0, calls: 0, usd: 0, last: 0 };
      own.sessions += 1; own.prompts += one.prompts; own.calls += one.calls; own.usd += one.usd;
      own.last = Math.max(own.last, one.ended || 0);
      sums.set(one.project, own);
    }
    const rows = [...sums].sort((a, b) => b[1].sessions - a[1].sessions);
    table('c-projects', '', [['project'], ['sessions', 1], ['prompts', 1, 1], ['tool calls', 1, 1], ['cost', 1], ['last', 1]], rows.map(([project, own]) => [
      el('button', { type: 'button', class: 'pick', onclick: () => { $('f-project').value = project; chosen.project = String(project); draw(); } }, data.projects[project]),
      n(own.sessions), n(own.prompts), n(own.calls), money(own.usd), own.last ? dayOf(own.last * 60) : '–']), 10);
  }
  const link = (one) => (data.pages === null || data.pages === undefined
    ? el('button', { type: 'button', class: 'pick', onclick: () => open(one) }, one.title)
    : el('a', { href: data.pages + encodeURIComponent(one.page) + '.html' }, one.title));
  const minutes = (one) => (one.started !== null && one.ended !== null ? one.ended - one.started : 0);
  function tops() {
    const title = [['title'], ['project', 0, 1]];
    const cells = (one) => [link(one), data.projects[one.project]];
    const longest = [...shown].sort((a, b) => b.prompts + b.calls - a.prompts - a.calls).slice(0, 10);
    table('c-longest', 'pair', [...title, ['prompts', 1], ['calls', 1]], longest.map((one) => [...cells(one), n(one.prompts), n(one.calls)]), 10);
    const costly = shown.filter((one) => one.usd > 0).sort((a, b) => b.usd - a.usd).slice(0, 10);
    table('c-costliest', 'pair', [...title, ['tokens', 1], ['cost', 1]], costly.map((one) => [...cells(one), short(one.tokens), money(one.usd)]), 10);
  }
  const from = (at) => {
    const one = sessions[at];
    return el('span', { class: 'from' }, link(one), ` · ${data.projects[one.project]} · ${one.day || 'no date'}`);
  };
  function points() {
    list('c-decisions', data.decisions.filter(([at]) => isShown[at]).map(([at, text, person, undone]) => () => el('li', {}, text, ' ',
      el('span', { class: 'tag' }, person ? 'decided by a person' : 'by the agent'), undone ? ' ' : null, undone ? el('span', { class: 'tag bad' }, 'undone') : null, from(at))), 12);
    list('c-open', data.open.filter(([at]) => isShown[at]).map(([at, text]) => () => el('li', {}, text, from(at))), 12);
    const project = chosen.project === '' ? null : Number(chosen.project);
    const undone = data.undone.filter(([day, own]) => inTime(day) && (project === null || own === project));
    if (!data.undone.length) fill('c-undone', el('p', { class: 'soft' }, 'No git operation that gave up work was recorded. '
      + 'Operations are recorded once a repository is tracked: sessionmill config set --tracking defaults.enabled true'));
    else list('c-undone', undone.map(([day, own, what, commits, why, who, at]) => () => el('li', {}, el('strong', {}, what),
      commits.length ? ': ' + commits.join('; ') : '', why ? el('div', {}, `Why (${who}): “${why}”`) : el('div', { class: 'soft' }, 'No reason was found.'),
      at === null ? el('span', { class: 'from' }, `${data.projects[own]} · ${day}`) : from(at))), 12);
  }
  function all() {
    table('c-sessions', '', [['title'], ['project', 0, 1], ['agent', 0, 1], ['began'], ['outcome', 0, 1], ['prompts', 1, 1], ['cost', 1]],
      shown.map((one) => [link(one), data.projects[one.project], data.agents[one.agent], one.day || '–', words(one.outcome) || '–', n(one.prompts), one.usd ? money(one.usd) : '–']), 50);
  }

  // --- one session --------------------------------------------------------------------------------
  const dialog = el('dialog', { 'aria-labelledby': 'one-title' });
  document.body.append(dialog);
  function open(one) {
    const row = (name, value) => (value ? [el('dt', {}, name), el('dd', {}, value)] : []);
    const strong = one.kinds.map((value, which) => [data.kinds[which], value]).filter(([, value]) => value >= 30).sort((a, b) => b[1] - a[1]);
    const said = (rows) => rows.filter(([at]) => at === one.at).map(([, text]) => el('li', {}, text));
    const decisions = said(data.decisions), left = said(data.open);
    dialog.replaceChildren(el('h2', { id: 'one-title' }, one.title), el('dl', {},
      ...row('project', data.projects[one.project]), ...row('agent', data.agents[one.agent]), ...row('began', one.day),
      ...row('lasted', minutes(one) ? span(minutes(one)) : ''), ...row('outcome', words(one.outcome)),
      ...row('kind of work', strong.map(([name, value]) => `${name} (${(value / 100).toFixed(1)})`).join(', ')),
      ...row('prompts', n(one.prompts)), ...row('tool calls', `${n(one.calls)}, ${n(one.failures)} failed`),
      ...row('tests', one.runs ? `${n(one.passed)} passed, ${n(one.failed)} failed in the last run` : ''),
      ...row('tokens', one.tokens ? n(one.tokens) : ''), ...row('cost', one.usd ? money(one.usd) : ''),
      ...row('read it', el('code', {}, `sessionmill show ${one.id}`)), ...row('go on', el('code', {}, `sessionmill resume ${one.id}`))),
    decisions.length ? el('h3', {}, 'Decisions') : '', decisions.length ? el('ul', {}, ...decisions) : '',
    left.length ? el('h3', {}, 'Still open') : '', left.length ? el('ul', {}, ...left) : '',
    el('button', { type: 'button', class: 'more', onclick: () => dialog.close() }, 'Close'));
    dialog.showModal();
  }

  // --- the whole ------------------------------------------------------------------------------------
  function figures() {
    const rows = workRows;
    const sum = (which) => rows.reduce((all, row) => all + row[which], 0);
    const paid = spentRows;
    const tokens = paid.reduce((all, row) => all + row[3] + row[4] + row[5] + row[6], 0);
    const usd = paid.reduce((all, row) => all + row[7], 0);
    const calls = sum(3);
    fill('figures', ...[['sessions', n(shown.length)], ['prompts', n(sum(2))], ['tool calls', n(calls)],
      ['calls succeeded', percent(calls - sum(4), calls)], ['tokens', short(tokens)], ['cost', money(usd)]]
      .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
  }
  function draw() {
    filter();
    charts.splice(0).forEach(({ chart }) => chart.destroy());
    for (const part of [figures, activity, calendar, kinds, stages, projects, cost, tools, tests, tops, points, all]) part();
    const parts = [chosen.label && `only ${chosen.label}`].filter(Boolean);
    $('chosen').textContent = `${n(shown.length)} of ${n(sessions.length)} sessions` + (parts.length ? `, ${parts.join(', ')}` : '');
  }
  let waiting = 0;
  const soon = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); };
  const options = (id, names) => $(id).append(...names.map((name, at) => [name, at]).sort((a, b) => a[0].localeCompare(b[0]))
    .map(([name, at]) => el('option', { value: at }, name)));
  options('f-project', data.projects);
  options('f-agent', data.agents);
  for (const [id, key] of [['f-project', 'project'], ['f-agent', 'agent'], ['f-time', 'time'], ['f-text', 'text']]) {
    $(id).addEventListener('input', () => { chosen[key] = $(id).value; chosen.days = null; chosen.label = ''; soon(); });
  }
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('filters').addEventListener('reset', () => {
    Object.assign(chosen, { project: '', agent: '', time: '', text: '', days: null, label: '' });
    soon();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); $('f-text').focus(); }
  });
  $('made').textContent = `Made ${data.made} by sessionmill.`;
  const redraw = () => charts.forEach(({ chart, holder }) => chart.setSize({ width: Math.max(260, holder.clientWidth), height: 220 }));
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => charts.forEach(({ chart }) => chart.redraw(false, true)));
  addEventListener('beforeprint', redraw);
  draw();
})();
