import type { Child } from 'hono/jsx'
import { CheckForm } from '../../http/page/check-form.tsx'
import { UtcTime } from '../../http/page/utc-time.tsx'
import type { DomainReport, IpReport, Report } from '../check-report.ts'
import type { Geo } from '../geo/geo.ts'
import { isCheckable } from '../target.ts'
import type { Verdict } from '../verdict.ts'
import { reportVerdict, verdictOf } from '../verdict.ts'
import { Advice } from './advice.tsx'
import { AnswerRows } from './answer-rows.tsx'
import { VerdictMark, verdictLabels } from './marks.tsx'
import { OperatorHint } from './operator-hint.tsx'

/** Returns the path of the page that checks a target. */
export function checkPath(target: string): string {
  return `/check/${encodeURIComponent(target)}`
}

/**
 * Renders the finished report.
 * @param props.resolvers the DNS resolvers in use, for an operator; null for visitors.
 */
export function ReportSection({
  report,
  resolvers,
}: {
  readonly report: Report
  readonly resolvers: readonly string[] | null
}) {
  const verdict = reportVerdict(report)
  return (
    <article id="report" data-title={`${verdictLabels[verdict]}: ${report.target} · Allclear`}>
      <Heading target={report.target} />
      <VerdictSection verdict={verdict} sentences={report.verdict.split(/(?<=\.) /)} />
      <Facts report={report} />
      <Advice report={report} />
      {resolvers !== null && report.failedCount === report.totalChecked ? <OperatorHint resolvers={resolvers} /> : null}
      <p class="actions">
        <CheckAgain target={report.target} />
        <a
          href={`/api/blacklist-monitor/${report.targetType}?target=${encodeURIComponent(report.target)}`}
          rel="nofollow"
        >
          View as JSON
        </a>
        <a href={`/console?watch=${encodeURIComponent(report.target)}`} rel="nofollow">
          Monitor {report.targetType === 'ip' ? 'this address' : 'this domain'}
        </a>
      </p>
      {report.targetType === 'ip' ? <AddressLists report={report} /> : <DomainLists report={report} />}
      <CheckForm label="Check another" />
    </article>
  )
}

/** Renders the message that replaces the report when a check fails because of our own error. */
export function FailedCheck({ target }: { readonly target: string }) {
  return (
    <article id="report" data-title={`Check failed: ${target} · Allclear`}>
      <Heading target={target} />
      <VerdictSection
        verdict="incomplete"
        sentences={['The check failed.', 'This is an error in our service; we have logged it.']}
      />
      <p class="actions">
        <CheckAgain target={target} />
      </p>
      <CheckForm label="Check another" />
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

/** The number of characters above which a target gets a smaller font, so that it fits on two lines of a phone. */
const LONG_TARGET_LENGTH = 30

/** Renders the target as the page heading, with line breaks allowed after dots and colons. */
export function Heading({ target }: { readonly target: string }) {
  return (
    <header>
      <p class="eyebrow">Blacklist report</p>
      <h1 class={target.length > LONG_TARGET_LENGTH ? 'target long' : 'target'}>
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

/** Renders the verdict under its mark. */
export function VerdictSection({
  verdict,
  sentences,
}: {
  readonly verdict: Verdict | 'pending'
  readonly sentences: readonly string[]
}) {
  return (
    <div class="verdict" data-outcome={verdict}>
      <VerdictMark verdict={verdict} />
      {sentences.map((sentence) => (
        <p>{sentence}</p>
      ))}
    </div>
  )
}

/** Renders a fact: a name and a value. */
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
      <Fact name="Answers">{countsText(report)}</Fact>
      <Fact name="Checked">
        <UtcTime at={report.checkedAt} />
      </Fact>
      {report.targetType === 'ip' ? <GeoFacts geo={report.geo} /> : <AddressFacts report={report} />}
    </dl>
  )
}

function countsText({ listedCount, policyCount, cleanCount, failedCount }: Report): string {
  const parts = [`${listedCount - policyCount} listed`, `${cleanCount - failedCount} not listed`]
  if (policyCount > 0) parts.splice(1, 0, policyCount === 1 ? '1 policy entry' : `${policyCount} policy entries`)
  if (failedCount > 0) parts.push(`${failedCount} unknown`)
  return parts.join(', ')
}

function GeoFacts({ geo }: { readonly geo: Geo }) {
  return (
    <>
      <Fact name="Location">{locationText(geo)}</Fact>
      <Fact name="Network">{networkText(geo)}</Fact>
    </>
  )
}

function AddressFacts({ report }: { readonly report: DomainReport }) {
  const found = report.resolvedIps.length
  const none = report.resolutionFailed ? 'could not be resolved' : 'none'
  return <Fact name="Addresses">{found === 0 ? none : `${found} found, ${report.ipReports.length} checked`}</Fact>
}

function locationText({ city, country, loading }: Geo): string {
  return [city, country].filter((part) => part !== null).join(', ') || unknownText(loading)
}

function networkText({ isp, asn, loading }: Geo): string {
  return [isp, asn].filter((part) => part !== null).join(', ') || unknownText(loading)
}

function unknownText(isLoading: true | undefined): string {
  return isLoading ? 'still loading' : 'unknown'
}

function AddressLists({ report }: { readonly report: IpReport }) {
  return (
    <section>
      <h2>Answers by list</h2>
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
      <UncheckedAddresses addresses={report.resolvedIps} checked={report.ipReports.map((ip) => ip.target)} />
    </>
  )
}

function AddressSection({ report }: { readonly report: IpReport }) {
  const verdict = verdictOf(report)
  return (
    <section>
      <div class="address" data-outcome={verdict}>
        <h2>{report.target}</h2>
        <VerdictMark verdict={verdict} />
        <p class="about">
          Location {locationText(report.geo)}. Network {networkText(report.geo)}.
        </p>
      </div>
      <AnswerRows target={report.target} results={report.results} explained={false} />
    </section>
  )
}

/** Renders the unchecked addresses of a domain and why they were not checked. Renders nothing if there are none. */
export function UncheckedAddresses({
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
      <h2>Not checked</h2>
      <ul class="plain">
        {unchecked.map((address) => (
          <li>
            <code>{address}</code>{' '}
            {isCheckable(address)
              ? 'exceeds the number of addresses in one check.'
              : 'is not a public address, so no list covers it.'}
          </li>
        ))}
      </ul>
    </section>
  )
}
