// Shows the problem of a field beside it, before the form is sent. The rules are the attributes that the server gives
// each field.

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** Whether a pointer is down: an element that moves now would not get its click. */
let isPressed = false
/** Fields that the person has changed. Leaving an unchanged field shows no message. */
const changed = new WeakSet<Field>()

/** Handles all forms of the page. */
export function listenToFields(): void {
  document.addEventListener('pointerdown', () => {
    isPressed = true
  })
  for (const end of ['pointerup', 'pointercancel']) {
    document.addEventListener(end, () => {
      isPressed = false
    })
  }
  document.addEventListener('input', ({ target }) => {
    if (!isField(target)) return
    changed.add(target)
    if (target.getAttribute('aria-invalid') === 'true') show(target)
  })
  document.addEventListener('focusout', ({ target }) => {
    if (!isField(target) || !changed.has(target)) return
    if (!isPressed) return show(target)
    document.addEventListener('pointerup', () => setTimeout(() => show(target)), { once: true })
  })
  document.addEventListener('invalid', refuse, true)
}

/** Shows our messages instead of the browser's when a form is sent. */
function refuse(event: Event): void {
  const { target } = event
  if (!isField(target) || frameOf(target) === null) return
  event.preventDefault()
  show(target)
  const first = target.form?.querySelector<Field>('input:invalid, textarea:invalid, select:invalid')
  if (first !== target) return
  for (let around = target.closest('details'); around; around = around.parentElement?.closest('details') ?? null)
    around.open = true
  target.focus()
}

const isField = (target: EventTarget | null): target is Field =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement

const frameOf = (field: Field) => field.closest<HTMLElement>('.form-field:not(.checkbox, .checkboxes)')

/** Shows the problem of a field, or hides it. */
function show(field: Field): void {
  if (!field.isConnected || frameOf(field) === null || field.type === 'file') return
  const id = `${field.id}-problem`
  const message = problemOf(field)
  const shown = document.getElementById(id)
  if (message === null) {
    shown?.remove()
    field.removeAttribute('aria-invalid')
    describe(field, id, false)
    return
  }
  const note = shown ?? Object.assign(document.createElement('p'), { id, className: 'problem' })
  note.textContent = message
  if (!shown) field.before(note)
  field.setAttribute('aria-invalid', 'true')
  describe(field, id, true)
}

function describe(field: Field, id: string, isDescribed: boolean): void {
  const ids = new Set((field.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean))
  if (isDescribed) ids.add(id)
  else ids.delete(id)
  if (ids.size > 0) field.setAttribute('aria-describedby', [...ids].join(' '))
  else field.removeAttribute('aria-describedby')
}

/** Returns the message for the rule that a field violates, like the server's; null: none. */
function problemOf(field: Field): string | null {
  const { validity, value, type } = field
  const bound = (name: 'min' | 'max' | 'maxlength') => field.getAttribute(name)
  if (field.required && value.trim() === '' && !validity.badInput) return 'Must not be blank.'
  if (validity.valid) return null
  if (validity.rangeUnderflow) return `Must be at least ${bound('min')}.`
  if (validity.rangeOverflow) return `Must be at most ${bound('max')}.`
  if (validity.tooLong) return `Must have at most ${bound('maxlength')} characters.`
  if (validity.badInput) return type === 'number' ? 'Must be a number.' : 'Must be a date and a time.'
  if (validity.stepMismatch) return 'Must be a whole number.'
  if (type === 'email') return 'Must be an email address.'
  if (type === 'url') return 'Must be a URL, such as https://example.com.'
  return field.title || field.validationMessage
}
