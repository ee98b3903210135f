// Fills in a report while it arrives. The server sends each answer as an inert <template>, and this script moves it to
// its pending row. The finished report needs no script: the style sheet shows it once the footer has arrived.

/** How long to wait for the report, in milliseconds. A check takes five seconds at most. */
const REPORT_TIMEOUT_MS = 15_000

// Chromium sends no event when the connection breaks, so only a timeout detects it.
const reportTimeout = setTimeout(showConnectionError, REPORT_TIMEOUT_MS)
const observer = new MutationObserver(insertAnswers)
observer.observe(document, { childList: true, subtree: true })
insertAnswers()
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', finish)
else finish()

function insertAnswers() {
  for (const template of document.querySelectorAll<HTMLTemplateElement>('#pending template')) {
    // A template is complete once a node follows it. Until then, it may still be arriving.
    if (template.nextSibling || document.readyState !== 'loading') insertAnswer(template)
  }
}

function insertAnswer(template: HTMLTemplateElement) {
  const { for: target = '', list = '' } = template.dataset
  const answer = template.content.firstElementChild
  const row = document.querySelector(`#pending li[data-for="${CSS.escape(target)}"][data-list="${CSS.escape(list)}"]`)
  if (answer instanceof HTMLElement && row) {
    row.replaceWith(answer)
    if (answer.dataset['state'] === 'listed') announce(`${list} lists ${target}.`)
  }
  template.remove()
  showProgress()
}

function showProgress() {
  const count = (rows: string) => document.querySelectorAll(`#pending li${rows}`).length
  const total = count('[data-state]')
  const listed = count('[data-state=listed]')
  const listings = listed === 0 ? '' : `, ${listed} with a listing`
  write('#pending .verdict p', `${total - count('[data-state=pending]')} of ${total} answers received${listings}.`)
}

function finish() {
  clearTimeout(reportTimeout)
  observer.disconnect()
  insertAnswers()
  const report = document.querySelector<HTMLElement>('#report')
  if (!report || !document.querySelector('body > footer')) return showConnectionError()
  document.querySelector('#pending')?.remove()
  document.title = report.dataset['title'] ?? document.title
  announce(report.querySelector('.verdict p')?.textContent ?? '')
  for (const time of report.querySelectorAll('time')) {
    time.title = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })
  }
}

function showConnectionError() {
  const message = 'The connection was lost before the report arrived. Reload the page to check again.'
  write('#pending .verdict p', message)
  announce(message)
}

function announce(text: string) {
  write('#announcer', text)
}

function write(selector: string, text: string) {
  const element = document.querySelector(selector)
  if (element) element.textContent = text
}
