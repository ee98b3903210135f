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

function adviceOn(report: Report): string {
  switch (reportOutcome(report)) {
    case 'listed':
      return listed
    case 'policy':
      return report.failedCount > 0 && canAnswerLater(report) ? `${policy} ${partlyUnknown}` : policy
    case 'clean':
      return clean
    case 'incomplete':
      if (!canAnswerLater(report)) return noIpv6
      return report.failedCount === report.totalChecked ? nothingKnown : partlyKnown
  }
}

const listed =
  'Find the cause first: an infected machine, a stolen mailbox, an open relay, a neighbour on a shared server. Then use “Contest this listing” on each list below; a listing contested before its cause is gone comes back. If your provider runs the server, send them this page.'

const policy =
  'Nothing, unless mail servers refuse mail from this address. A policy entry names addresses from which no mail should come directly, such as those of homes and of web servers; it accuses nobody. Send mail through your provider’s server, or, if a mail server is meant to run here, ask for the entry to be removed below.'

const partlyUnknown = 'Not every list could be asked: check again in a few minutes.'

const clean =
  'Nothing. If mail is still refused, the reason lies elsewhere: read the text of the bounce, then look at reverse DNS, SPF, DKIM and DMARC. Listings come and go, so check again when delivery changes.'

const noIpv6 =
  'No list that answered has a listing. The others are not known to hold IPv6 addresses, so checking again will not tell more.'

const nothingKnown =
  'No list gave a usable answer, so nothing follows from this check. Check again in a few minutes, or ask the lists on their own pages, linked below.'

const partlyKnown =
  'No list that answered has a listing, but this is no all-clear: not everything could be found out. Check again in a few minutes, or ask the lists that gave no answer on their own pages, linked below.'

/** Whether what is not known now may be known at another time. */
function canAnswerLater(report: Report): boolean {
  if (report.targetType === 'domain' && report.resolutionFailed) return true
  const parts: readonly { readonly results: readonly BlacklistResult[] }[] =
    report.targetType === 'ip' ? [report] : [report, ...report.ipReports]
  return parts.some(({ results }) => results.some(({ error }) => error !== null && error !== 'unsupported'))
}
