/** Whether a form of the page was sent, or its input discarded by a link beside its buttons. */
let isDone = false

/** Asks before the person leaves a page whose forms have input that would be lost. */
export function listenToLeaving(isChanged: (field: Element) => boolean): void {
  document.addEventListener('submit', ({ target, defaultPrevented }) => {
    if (target instanceof Element && target.closest('main') && !defaultPrevented) isDone = true
  })
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('main form .actions a')) isDone = true
  })
  // The person came back to a page that the browser had kept.
  addEventListener('pageshow', () => {
    isDone = false
  })
  addEventListener('beforeunload', (event) => {
    if (!isDone && hasInput(isChanged)) event.preventDefault()
  })
}

function hasInput(isChanged: (field: Element) => boolean): boolean {
  const forms = [...document.querySelectorAll<HTMLFormElement>('main form[method=post]')]
  // A refused form and a preview show input that is not saved, as if it had not changed.
  const isShownAgain = document.body.dataset['typed'] !== undefined
  return forms.some(
    (form) =>
      (isShownAgain && form.querySelector('.problem, .preview') !== null) ||
      [...form.elements].some((field) => isWritten(field) && isChanged(field)),
  )
}

/** Passwords are typed again, and rows are chosen again. */
function isWritten(field: Element): boolean {
  return !(field instanceof HTMLInputElement && (field.type === 'password' || field.name === 'ids'))
}
