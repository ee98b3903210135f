// The live part of a report that is still arriving: each answer comes as an inert <template>, which this moves into its
// pending row's place. The report itself needs no script: the style sheet shows it once the footer has come.

/** Milliseconds after which a report that has not come never will: a check takes five seconds at most. */
const PATIENCE = 15_000

// Chromium tells a page nothing when its connection breaks; only time does.
const patience = setTimeout(tellBroken, PATIENCE)
const observer = new MutationObserver(placeAnswers)
observer.observe(document, { childList: true, subtree: true })
placeAnswers()
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', finish)
else finish()

function placeAnswers() {
  for (const template of document.querySelectorAll<HTMLTemplateElement>('#pending template')) {
    // What follows a template comes only after its end tag; without it, the template may still be arriving.
    if (template.nextSibling || document.readyState !== 'loading') place(template)
  }
}

function place(template: HTMLTemplateElement) {
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
  const asked = count('[data-state]')
  const listed = count('[data-state=listed]')
  const sofar = listed === 0 ? '' : `, ${listed} with a listing`
  write('#pending .verdict p', `${asked - count('[data-state=pending]')} of ${asked} answers are in${sofar}.`)
}

function finish() {
  clearTimeout(patience)
  observer.disconnect()
  placeAnswers()
  const report = document.querySelector<HTMLElement>('#report')
  if (!report || !document.querySelector('body > footer')) return tellBroken()
  document.querySelector('#pending')?.remove()
  document.title = report.dataset['title'] ?? document.title
  announce(report.querySelector('.verdict p')?.textContent ?? '')
  for (const time of report.querySelectorAll('time')) {
    time.title = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })
  }
}

function tellBroken() {
  const broken = 'The connection broke before the report came. Load the page again to repeat the check.'
  write('#pending .verdict p', broken)
  announce(broken)
}

function announce(text: string) {
  write('#announcer', text)
}

function write(selector: string, text: string) {
  const element = document.querySelector(selector)
  if (element) element.textContent = text
}
