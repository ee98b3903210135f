import type { Child } from 'hono/jsx'
import { UtcTime } from '../../http/utc-time.tsx'
import type { Geo } from '../geo.ts'
import type { DomainReport, IpReport, Report } from '../report.ts'
import { isCheckable } from '../target.ts'
import type { Outcome } from '../verdict.ts'
import { outcomeOf, reportOutcome } from '../verdict.ts'
import { Advice } from './advice.tsx'
import { AnswerRows } from './lists.tsx'
import { OperatorHint } from './operator-hint.tsx'
import { OutcomeMark, outcomeWords } from './outcome.tsx'

/** The path of the page that checks a target. */
export function checkPath(target: string): string {
  return `/check/${encodeURIComponent(target)}`
}

/**
 * The finished report, to be read by a person or sent to their provider.
 * @param props.resolvers what the lists are asked through, for a reader who can change that; else null
 */
export function ReportSection({
  report,
  resolvers,
}: {
  readonly report: Report
  readonly resolvers: readonly string[] | null
}) {
  const outcome = reportOutcome(report)
  return (
    <article id="report" data-title={`${outcomeWords[outcome]}: ${report.target} · Allclear`}>
      <Heading target={report.target} />
      <Verdict outcome={outcome} sentences={report.verdict.split(/(?<=\.) /)} />
      <Facts report={report} />
      <Advice report={report} />
      {resolvers !== null && report.failedCount === report.totalChecked ? <OperatorHint resolvers={resolvers} /> : null}
      <p class="actions">
        <CheckAgain target={report.target} />
        <a
          href={`/api/blacklist-monitor/${report.targetType}?target=${encodeURIComponent(report.target)}`}
          rel="nofollow"
        >
          This report as JSON
        </a>
      </p>
      {report.targetType === 'ip' ? <AddressLists report={report} /> : <DomainLists report={report} />}
    </article>
  )
}

/** What stands in the report's place when the check broke off by our own fault. */
export function BrokenOff({ target }: { readonly target: string }) {
  return (
    <article id="report" data-title={`Broken off: ${target} · Allclear`}>
      <Heading target={target} />
      <Verdict
        outcome="incomplete"
        sentences={['The check broke off before it was done.', 'The fault is ours, and it has been logged.']}
      />
      <p class="actions">
        <CheckAgain target={target} />
      </p>
    </article>
  )
}

function CheckAgain({ target }: { readonly target: string }) {
  return (
    <a class="button" href={checkPath(target)} rel="nofollow">
      Check again
    </a>
  )
}

/** From more characters than this, the target is set smaller: it would fill more than two lines of a phone. */
const LONG_TARGET = 30

/** The target as the page's heading, which may break after its dots and colons. */
export function Heading({ target }: { readonly target: string }) {
  return (
    <header>
      <p class="eyebrow">Blacklist report</p>
      <h1 class={target.length > LONG_TARGET ? 'target long' : 'target'}>
        {target.split(/(?<=[.:])/).map((part) => (
          <>
            {part}
            <wbr />
          </>
        ))}
      </h1>
    </header>
  )
}

/** The verdict in words, under its mark: the first sentence large. */
export function Verdict({
  outcome,
  sentences,
}: {
  readonly outcome: Outcome | 'pending'
  readonly sentences: readonly string[]
}) {
  return (
    <div class="verdict" data-outcome={outcome}>
      <OutcomeMark outcome={outcome} />
      {sentences.map((sentence) => (
        <p>{sentence}</p>
      ))}
    </div>
  )
}

/** A fact's name and value. */
export function Fact({ name, children }: { readonly name: string; readonly children?: Child }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Facts({ report }: { readonly report: Report }) {
  return (
    <dl class="facts">
      <Fact name="Answers">{countsInWords(report)}</Fact>
      <Fact name="Checked">
        <UtcTime at={report.checkedAt} />
      </Fact>
      {report.targetType === 'ip' ? <GeoFacts geo={report.geo} /> : <AddressFacts report={report} />}
    </dl>
  )
}

function countsInWords({ listedCount, policyCount, cleanCount, failedCount }: Report): string {
  const parts = [`${listedCount - policyCount} listed`, `${cleanCount - failedCount} not listed`]
  if (policyCount > 0) parts.splice(1, 0, policyCount === 1 ? '1 policy entry' : `${policyCount} policy entries`)
  if (failedCount > 0) parts.push(`${failedCount} not known`)
  return parts.join(', ')
}

function GeoFacts({ geo }: { readonly geo: Geo }) {
  return (
    <>
      <Fact name="Location">{placeOf(geo)}</Fact>
      <Fact name="Network">{networkOf(geo)}</Fact>
    </>
  )
}

function AddressFacts({ report }: { readonly report: DomainReport }) {
  const found = report.resolvedIps.length
  const none = report.resolutionFailed ? 'could not be looked up' : 'none'
  return <Fact name="Addresses">{found === 0 ? none : `${found} found, ${report.ipReports.length} checked`}</Fact>
}

function placeOf({ city, country }: Geo): string {
  return [city, country].filter((part) => part !== null).join(', ') || 'unknown'
}

function networkOf({ isp, asn }: Geo): string {
  return [isp, asn].filter((part) => part !== null).join(', ') || 'unknown'
}

function AddressLists({ report }: { readonly report: IpReport }) {
  return (
    <section>
      <h2>What each list says</h2>
      <AnswerRows target={report.target} results={report.results} explained />
    </section>
  )
}

function DomainLists({ report }: { readonly report: DomainReport }) {
  return (
    <>
      <section>
        <h2>The name {report.target}</h2>
        <AnswerRows target={report.target} results={report.results} explained />
      </section>
      {report.ipReports.map((ip) => (
        <AddressSection report={ip} />
      ))}
      <Unchecked addresses={report.resolvedIps} checked={report.ipReports.map((ip) => ip.target)} />
    </>
  )
}

function AddressSection({ report }: { readonly report: IpReport }) {
  const outcome = outcomeOf(report)
  return (
    <section>
      <div class="address" data-outcome={outcome}>
        <h2>{report.target}</h2>
        <OutcomeMark outcome={outcome} />
        <p class="about">
          Location {placeOf(report.geo)}. Network {networkOf(report.geo)}.
        </p>
      </div>
      <AnswerRows target={report.target} results={report.results} explained={false} />
    </section>
  )
}

/** The addresses of a domain that were found and not checked, with the reason; nothing when there are none. */
export function Unchecked({
  addresses,
  checked,
}: {
  readonly addresses: readonly string[]
  readonly checked: readonly string[]
}) {
  const unchecked = addresses.filter((address) => !checked.includes(address))
  if (unchecked.length === 0) return null
  return (
    <section>
      <h2>Found, but not checked</h2>
      <ul class="plain">
        {unchecked.map((address) => (
          <li>
            <code>{address}</code>{' '}
            {isCheckable(address)
              ? 'is one address more than are checked at once.'
              : 'is not a public address, so no list can know it.'}
          </li>
        ))}
      </ul>
    </section>
  )
}
