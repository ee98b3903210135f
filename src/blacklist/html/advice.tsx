import type { Child } from 'hono/jsx'
import type { BlacklistResult, Report } from '../report.ts'
import { reportOutcome } from '../verdict.ts'

/** What a reader should do about a report, in plain words. */
export function Advice({ report }: { readonly report: Report }) {
  return (
    <section class="advice">
      <h2>What to do now</h2>
      <p>{adviceOn(report)}</p>
    </section>
  )
}

function adviceOn(report: Report): Child {
  switch (reportOutcome(report)) {
    case 'listed':
      return (
        <>
          Find the cause first: an infected machine, a stolen mailbox, an open relay, a neighbour on a shared server.
          Then use “Contest this listing” on each list below; a listing contested before its cause is gone comes back.
          If your provider runs the server, send them this page.
        </>
      )
    case 'clean':
      return (
        <>
          Nothing. If mail is still refused, the reason lies elsewhere: read the text of the bounce, then look at
          reverse DNS, SPF, DKIM and DMARC. Listings come and go, so check again when delivery changes.
        </>
      )
    case 'incomplete':
      return canAnswerLater(report) ? (
        <>
          No list that answered has a listing, but this is no all-clear: some gave no usable answer. Check again in a
          few minutes, or ask those lists on their own pages.
        </>
      ) : (
        <>
          No list that answered has a listing. The others hold no IPv6 addresses, so they cannot say anything about this
          one, now or later.
        </>
      )
  }
}

/** Whether what is not known now may be known at another time. */
function canAnswerLater(report: Report): boolean {
  if (report.targetType === 'domain' && report.resolutionFailed) return true
  const parts: readonly { readonly results: readonly BlacklistResult[] }[] =
    report.targetType === 'ip' ? [report] : [report, ...report.ipReports]
  return parts.some(({ results }) => results.some(({ error }) => error !== null && error !== 'unsupported'))
}
