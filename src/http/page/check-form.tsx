interface CheckFormProps {
  readonly label?: string
  readonly value?: string
  readonly invalid?: boolean
}

/** Renders the form that starts a check. It works without JavaScript: `/check?target=…` redirects to the report. */
export function CheckForm({ label = 'IP address or domain', value = '', invalid = false }: CheckFormProps) {
  return (
    <form class="check" action="/check" method="get">
      <label for="target">{label}</label>
      <div class="field">
        <input
          id="target"
          name="target"
          type="text"
          value={value}
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          inputmode="url"
          enterkeyhint="go"
          aria-invalid={invalid ? 'true' : undefined}
          aria-describedby={invalid ? 'problem' : undefined}
        />
        <button type="submit">Check</button>
      </div>
    </form>
  )
}
