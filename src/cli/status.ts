import { type Command, EXIT, Failure } from './command.ts'
import { colourOf, columns, jsonText, paint, printable, wordsOf } from './paint.ts'

interface Page {
  readonly name: string
  readonly slug: string
  readonly status: { readonly indicator: string; readonly description: string }
  readonly services: readonly {
    readonly id: string
    readonly name: string
    readonly status: string
    readonly basis: string
    readonly unknownSince: string | null
  }[]
  readonly incidents: readonly {
    readonly id: string
    readonly title: string
    readonly status: string
    readonly impact: string
    readonly startedAt: string
  }[]
}

const QUERY = `query Status($slug: String!) {
  statusPage(slug: $slug) {
    name slug
    status { indicator description }
    services { id name status basis unknownSince }
    incidents { id title status impact startedAt }
  }
}`

/** Shows a status page. */
export const status: Command = {
  usage: '[SLUG]',
  summary: 'Show a status page (with a key, your own by default)',
  examples: ['allclear status', 'allclear status example --url https://status.example.com'],
  exitCodes: { 0: 'operational or under maintenance', 2: 'services are affected' },
  async run({ words, json }, terminal, service) {
    const { client } = await service()
    const slug = words[0] ?? (await ownSlug())
    const { statusPage } = await client.request<{ statusPage: Page | null }>(QUERY, { slug }, terminal.signal)
    if (statusPage === null) throw new Failure(`There is no status page “${slug}”, or you cannot access it.`)
    const { name, status: overall, services, incidents } = statusPage
    if (json) terminal.result(jsonText(statusPage, 2))
    else {
      terminal.result(
        `${paint(terminal, 'bold', printable(name))}: ${coloured(overall.indicator, overall.description)}`,
      )
      const rows = columns(services.map((each) => [each.name, statusInWords(each)]))
      for (const [index, row] of rows.entries()) terminal.result(coloured(services[index]?.status ?? '', row))
      for (const { id, title, impact, status: incident } of incidents) {
        terminal.result(coloured(impact, `${printable(title)} (${wordsOf(incident)}, ${id})`))
      }
    }
    return /^(NONE|MAINTENANCE)$/.test(overall.indicator) ? EXIT.ok : EXIT.bad

    async function ownSlug(): Promise<string> {
      const { key } = await service()
      if (key === undefined)
        throw new Failure('Give a status page: allclear status SLUG. Or store a key: allclear login')
      const query = 'query { organization { slug } }'
      const { organization } = await client.request<{ organization: { slug: string } }>(query)
      return organization.slug
    }

    function coloured(word: string, text: string): string {
      return paint(terminal, colourOf(word), printable(text))
    }
  },
}

/** Says the status of a service; `status` alone has no word for a service of which nothing is known. */
function statusInWords({ status, basis, unknownSince }: Page['services'][number]): string {
  if (status === 'DEGRADED_PERFORMANCE' && basis === 'UNSTATED') return 'no status yet'
  const isUnknown = status === 'DEGRADED_PERFORMANCE' && (basis === 'PENDING' || basis === 'SILENT')
  if (!isUnknown) return wordsOf(status)
  return unknownSince === null ? 'waiting for first result' : `no data since ${unknownSince}`
}
