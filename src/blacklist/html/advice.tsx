import type { Report } from '../check-report.ts'
import { mayAnswerLater, reportVerdict } from '../verdict.ts'

/** Renders the advice on a report. */
export function Advice({ report }: { readonly report: Report }) {
  return (
    <section class="advice">
      <h2>What to do now</h2>
      <p>{adviceFor(report)}</p>
    </section>
  )
}

function adviceFor(report: Report): string {
  switch (reportVerdict(report)) {
    case 'listed':
      return listedAdvice
    case 'policy':
      return report.failedCount > 0 && mayAnswerLater(report) ? `${policyAdvice} ${partlyUnknownAdvice}` : policyAdvice
    case 'clean':
      return cleanAdvice
    case 'incomplete':
      if (!mayAnswerLater(report)) return noIpv6Advice
      return report.failedCount === report.totalChecked ? nothingKnownAdvice : partlyKnownAdvice
  }
}

const listedAdvice =
  'Find the cause first: an infected machine, a stolen mailbox, an open relay or a neighbour on a shared server. Once it is fixed, use “Contest this listing” on each list below; otherwise the listing comes back. If your provider runs the server, send them this page.'

const policyAdvice =
  'Nothing, unless mail servers refuse mail from this address. A policy entry covers addresses that should not send mail directly, such as home connections and web servers; it does not report abuse. Send mail through your provider’s server. If you run a mail server here, request removal of the entry below.'

const partlyUnknownAdvice = 'Some lists did not answer. Check again in a few minutes.'

const cleanAdvice =
  'Nothing. If mail is still refused, look for another cause: read the bounce message, then check reverse DNS, SPF, DKIM and DMARC. Listings come and go, so check again when delivery changes.'

const noIpv6Advice =
  'No list that answered has a listing. The others are not known to cover IPv6, so checking again will not help.'

const nothingKnownAdvice =
  'No list gave a usable answer, so this check is inconclusive. Check again in a few minutes, or look on the lists’ own pages, linked below.'

const partlyKnownAdvice =
  'No list that answered has a listing, but some lists did not answer, so this is not an all-clear. Check again in a few minutes, or look on the pages of those lists, linked below.'
