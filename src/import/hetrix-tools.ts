import { Fields } from './fields.ts'
import { type KnownKeys, noLossOf, noteLosses, words } from './losses.ts'
import { Draft, type Drafted, keyOf, nameOf, readJson, Unreadable } from './translation.ts'

const PREFIX = 'hetrixtools'

const known: KnownKeys = {
  // The state, and what is found out again.
  ...noLossOf(
    words(`
      id type status listed rdns report_id meta created_at last_check links
    `),
  ),
  ...noLossOf(['rbl', 'delist'], 'listed'),
  ...noLossOf(['total', 'pages', 'page', 'per_page', 'count'], 'meta'),
  contact_lists: 'Contact lists are not imported.',
}

/** Translates the blacklist monitors of HetrixTools (API v3). Imports only their targets. @throws Unreadable. */
export function translateHetrixTools(text: string): Drafted {
  const answer = readJson(text)
  const file = new Fields(answer)
  const list = Array.isArray(answer)
    ? answer
    : ['monitors', 'blacklist_monitors', 'data'].flatMap((name) => file.list(name))
  const monitors = list.map((each) => new Fields(each))
  if (!monitors.some((each) => targetOf(each) !== ''))
    throw new Unreadable('This isn’t a list of blacklist monitors of HetrixTools: it has no targets.')
  const draft = new Draft()
  for (const monitor of monitors) addMonitor(draft, monitor)
  if (Array.isArray(answer)) noteLosses(draft, monitors, known, ['monitors'])
  else noteLosses(draft, [file], known)
  return { ...draft, hasVariables: false }
}

const targetOf = (monitor: Fields) => monitor.text('target')

function addMonitor(draft: Draft, monitor: Fields): void {
  const target = targetOf(monitor)
  const id = monitor.text('id') || target
  const name = nameOf(monitor.text('name') || target, 'Monitor')
  if (target === '') {
    draft.skip('monitors', name, 'It has no target.', monitor)
    return
  }
  if (target.includes('/')) {
    draft.skip('monitors', name, 'It is a network, but a monitor here watches one address.', monitor)
    return
  }
  // Creates no service, because listings do not concern the visitors of pages.
  draft.objects.monitors.set(keyOf(PREFIX, id), { name, blacklist: { target } })
}
