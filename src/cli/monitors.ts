import { type Command, EXIT } from './command.ts'
import { colourOf, columns, jsonText, paint, wordsOf } from './paint.ts'

interface Monitor {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly state: string
  readonly lastResult: { readonly at: string; readonly message: string; readonly latencyMs: number | null } | null
}

interface Monitors {
  readonly nodes: readonly Monitor[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

const QUERY = `query Monitors($after: String) {
  organization {
    monitors(first: 100, after: $after, orderBy: { field: NAME, direction: ASC }) {
      nodes { id name kind state lastResult { at message latencyMs } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

/** Lists the monitors of the organization. */
export const monitors: Command = {
  usage: '',
  summary: 'List your monitors and their states',
  examples: ['allclear monitors', 'allclear monitors --json'],
  exitCodes: { 0: 'no monitor is down or degraded', 2: 'a monitor is down or degraded' },
  async run({ json }, terminal, service) {
    const { client } = await service()
    const found: Monitor[] = []
    for (let after: string | null = null; ; ) {
      type Answer = { readonly organization: { readonly monitors: Monitors } }
      const { organization }: Answer = await client.request<Answer>(QUERY, { after }, terminal.signal)
      found.push(...organization.monitors.nodes)
      after = organization.monitors.pageInfo.endCursor
      if (!organization.monitors.pageInfo.hasNextPage) break
    }
    if (json) terminal.result(jsonText(found, 2))
    else {
      const rows = columns(
        found.map(({ name, kind, state, lastResult }) => [
          wordsOf(state),
          name,
          wordsOf(kind),
          lastResult?.message ?? '',
        ]),
      )
      for (const [index, row] of rows.entries()) {
        terminal.result(paint(terminal, colourOf(found[index]?.state ?? ''), row))
      }
      if (found.length === 0) terminal.say('There are no monitors yet.')
    }
    return found.some(({ state }) => state === 'DOWN' || state === 'DEGRADED') ? EXIT.bad : EXIT.ok
  },
}
