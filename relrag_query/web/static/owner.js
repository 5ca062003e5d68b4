// What the owner changes: forms send their operation as JSON, files go up in pieces, progress is asked for.

const words = JSON.parse(document.body.dataset.words)
const PIECE = 2 ** 20
const POLL_MS = 600
const WORK_MS = 400
const WRITER_MS = 2000

/** Sends an operation; the reply, or an Error that says what went wrong. */
async function operate(name, values) {
  const response = await fetch(`/owner/${name}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(values),
  })
  return answer(response)
}

async function answer(response) {
  if (response.status === 401) throw new Error(words.logged_out)
  const reply = await response.json().catch(() => ({}))
  const { code, choices, errors } = reply
  if (!response.ok) throw Object.assign(new Error(reply.detail ?? words.failed), { code, choices, errors })
  return reply
}

/** The fields of a form as an operation takes them; `data-json` has those that nobody types, `data-group` puts all in one. */
function fields(form, button) {
  const values = form.dataset.json ? JSON.parse(form.dataset.json) : {}
  for (const field of form.querySelectorAll('input[name], select[name]')) {
    if (field.disabled || (field.type === 'checkbox' && !field.checked)) continue
    if ('list' in field.dataset) (values[field.name] ??= []).push(field.value)
    else values[field.name] = field.value
  }
  if (button?.name) values[button.name] = button.value === 'true'
  return form.dataset.group ? { [form.dataset.group]: values } : values
}

function tell(form, message) {
  const line = form.querySelector('[role=alert]')
  line.className = 'notice'
  line.textContent = message[0].toUpperCase() + message.slice(1)
  line.hidden = false
}

/** A wrong field by its label, and why. */
function described(form, { field, error }) {
  const input = field.split('.').map((part) => form.querySelector(`[name="${CSS.escape(part)}"]`)).find(Boolean)
  const label = input?.labels?.[0]?.textContent ?? input?.getAttribute('aria-label') ?? field
  return `${isolated(label.trim())}: ${isolated(error)}.`
}

/** The people whom a name may mean, as buttons that put the number of a person into the field of that name. */
function offerChoices(form, choices) {
  form.querySelector('.choices')?.remove()
  if (!choices.length) return
  const list = form.appendChild(document.createElement('ul'))
  list.className = 'choices'
  for (const { name, number, about, typed } of choices) {
    const line = list.appendChild(document.createElement('li'))
    const button = line.appendChild(document.createElement('button'))
    button.className = 'quiet small'
    button.type = 'button'
    button.append(Object.assign(document.createElement('bdi'), { textContent: name }), ` ${about}`)
    button.addEventListener('click', () => {
      const field = [...form.querySelectorAll('input')].find((input) => input.value.trim() === typed)
      if (field) field.value = number
      form.requestSubmit()
    })
  }
}

/** After a moment in which most operations end, the form says that its operation is at work. */
function atWork(form) {
  return setTimeout(() => { tell(form, words.working); form.querySelector('[role=alert]').className = 'faint' }, WORK_MS)
}

document.addEventListener('submit', async (event) => {
  const form = event.target
  if (!form.matches('form[data-operation]')) return
  event.preventDefault()
  const buttons = form.querySelectorAll('button')
  const values = fields(form, event.submitter)
  buttons.forEach((button) => { button.disabled = true })
  const waiting = atWork(form)
  try {
    await operate(form.dataset.operation, values)
    if ('stay' in form.dataset) await poll()
    else if (form.dataset.then) location.assign(form.dataset.then)
    else location.reload()
  } catch (error) {
    tell(form, [error.message, ...(error.errors ?? []).map((wrong) => described(form, wrong))].join(' '))
    buttons.forEach((button) => { button.disabled = false })
    offerChoices(form, error.choices ?? [])
  } finally {
    clearTimeout(waiting)
  }
})

const zone = document.querySelector('[data-zone]')

/** Offers the time zone of this browser beside another one. */
function offerZone() {
  const field = document.getElementById('timezone')
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  zone.textContent = zone.textContent.replace('{zone}', () => here)
  zone.hidden = field.disabled || !here || field.value === here
  zone.addEventListener('click', () => { field.value = here; zone.hidden = true })
}

if (zone) offerZone()

const section = document.querySelector('[data-poll]')
let timer = null

function isRunning() {
  return section?.querySelector('[data-running]')?.dataset.running === 'yes'
}

/** Shows what is going on until nothing is; then the page is loaded again, since it shows counts and failures too. */
async function poll() {
  clearTimeout(timer)
  if (!section) return location.reload()
  const response = await fetch(section.dataset.poll).catch(() => null) // null while the server is being started again
  if (response?.ok) {
    section.replaceChildren(...new DOMParser().parseFromString(await response.text(), 'text/html').body.childNodes)
  }
  if (response?.status === 401 || (response?.ok && !isRunning())) return location.reload()
  hideSync()
  timer = setTimeout(poll, POLL_MS)
}

/** While something is at work, nothing else can be started. */
function hideSync() {
  for (const form of document.querySelectorAll('form[data-operation=sync]')) form.hidden = true
}

if (isRunning()) poll()

for (const form of document.querySelectorAll('form[data-upload]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const list = form.querySelector('.uploads')
    const button = form.querySelector('button')
    button.disabled = true
    let stored = 0
    for (const file of form.querySelector('input[type=file]').files) {
      const name = isolated(file.name)
      const line = list.appendChild(document.createElement('li'))
      try {
        await upload(
          file,
          (share) => { line.textContent = `${name}: ${Math.floor(100 * share)}%` },
          () => { line.textContent = words.upload_waits.replace('{name}', () => name) },
        )
        line.textContent = words.stored.replace('{name}', () => name)
        stored += 1
      } catch (error) {
        line.textContent = `${name}: ${error.message}`
        line.className = 'notice'
      }
    }
    button.disabled = false
    if (stored) list.append(lookLink())
  })
}

function lookLink() {
  const line = document.createElement('li')
  const link = line.appendChild(document.createElement('a'))
  link.href = '/archive/add?incoming'
  link.className = 'more strong'
  link.textContent = words.look_uploaded
  return line
}

/** Sends a file in pieces; what is stored of it stays, so that a cut connection costs one piece. */
async function upload(file, show, wait) {
  const id = await identity(file)
  let { stored } = await operate('upload_state', { upload: id })
  if (stored > file.size) ({ stored } = await operate('upload_discard', { upload: id }))
  let failures = 0
  while (stored < file.size) {
    show(stored / file.size)
    try {
      ({ stored } = await send(id, stored, file.slice(stored, stored + PIECE)))
      failures = 0
    } catch (error) {
      if (!(error instanceof TypeError) || ++failures > 8) throw error
      await new Promise((resolve) => { setTimeout(resolve, 500 * failures) })
      ;({ stored } = await operate('upload_state', { upload: id }).catch(() => ({ stored })))
    }
  }
  show(1)
  return finish({ upload: id, name: file.name, total: file.size }, wait)
}

/** Stores a file that has come; while something else writes to the archive it waits, with all its bytes. */
async function finish(file, wait) {
  for (;;) {
    try {
      return await operate('upload_finish', file)
    } catch (error) {
      if (error.code !== 'locked') throw error
      wait()
      await new Promise((resolve) => { setTimeout(resolve, WRITER_MS) })
    }
  }
}

/** A name whose writing direction changes nothing around it, with characters that nobody sees by their numbers. */
function isolated(name) {
  const visible = name.replace(/[\p{Cc}\p{Cf}]/gu, (sign) => `<U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}>`)
  return `\u2068${visible}\u2069`
}

async function send(id, offset, piece) {
  const response = await fetch(`/owner/upload?upload=${id}&offset=${offset}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: piece,
  })
  return answer(response)
}

/** The same for the same file, so that an upload goes on after the page was closed: by name, size and time. */
async function identity(file) {
  const words = new TextEncoder().encode(`${file.name}/${file.size}/${file.lastModified}`)
  const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)))
  // no digest on a page that came without TLS from another machine
  const bytes = crypto.subtle ? Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', words))).slice(0, 16) : random()
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

const pairs = document.querySelector('[data-pairs]')

function move(step) {
  const items = [...pairs.children]
  const here = items.findIndex((item) => item.contains(document.activeElement))
  items[Math.max(0, Math.min(items.length - 1, here + step))]?.focus()
}

if (pairs) {
  document.addEventListener('keydown', (event) => {
    if (event.target.matches('input, textarea') || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'j') move(1)
    else if (event.key === 'k') move(-1)
    else if (event.key === 'y' || event.key === 'n') {
      document.activeElement.closest('[data-pairs] > li')?.querySelector(`[data-key=${event.key}]`)?.click()
    }
  })
}
