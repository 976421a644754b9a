// What the scripts share with the page and with each other, for `npm run types`.
// What a page hands in may be anything.

/** What a page says of itself, or a collector has found on it. */
interface PageItem {
  id: string;
  label: string;
  description: string;
  value: unknown;
  /** Whether it is sent without being mentioned. */
  auto?: boolean;
  /** Whether it is too large to be sent. */
  large?: boolean;
}

/** A tool that the page has registered. */
interface PageTool {
  description: string;
  parameters: object;
  available?: () => boolean;
  handler: (values: any, call?: BrowserCall) => unknown;
}

/** A call that the page is to carry out, as the server asks for it. */
interface BrowserCall {
  interrupt: string;
  nonce: string;
  name: string;
  arguments: any;
  /** Of the page that was left for this one. */
  tab?: string;
  /** Whether the person has left it, and not the call. */
  left?: boolean;
}

/** A message on its way to the server. */
interface PendingMessage {
  key: string;
  text: string;
  conversation: string;
  /** When it was sent, in milliseconds. */
  time: number;
  path?: string;
  title?: string;
  context?: string;
  /** The other fields of the form, each with its values. */
  [field: string]: any;
  /** Whether another page has left it behind. */
  isOld?: boolean;
}

/** What is asked of a request by who sends it. */
interface Wish {
  values?: Record<string, string>;
  before?: () => unknown;
  done?: (ctx: RequestContext) => void;
  link?: HTMLAnchorElement;
}

/** A request of htmx, and what has become of it. */
interface RequestContext {
  sourceEvent?: CustomEvent<Wish>;
  target: Element;
  request: { action: string; method: string; body: FormData; signal: AbortSignal };
  response?: { raw: Response; status: number };
  hx?: { retarget?: string };
  /** Whether what was asked for stands on the page. */
  isDrawn?: boolean;
}

/** What the server sends down: HTML to be swapped, texts that grow, what is told. */
interface Frame {
  /** The run, if the frame belongs to one. */
  r?: string;
  /** The number of its last event. */
  s: number;
  state?: string;
  grow?: [id: string, html: string][];
  html?: string;
  tell?: [name: string, value: any][];
  /** Whether another frame has the rest, up to that event. */
  more?: boolean;
}

/** What is drawn of a conversation: where the next frames go on. */
interface Position {
  conversation: string;
  run: string;
  after: string;
  opened: string;
}

/** The panel's root element, with what boot.js keeps on it. */
interface PanelRoot extends HTMLElement {
  /** The path that the panel was drawn for. */
  path: string;
  /** The form that was sent before there was a panel. */
  sent?: FormData;
  /** What was kept on the page before this one. */
  left?: string;
  items: Map<string, Partial<PageItem>>;
  tools: Map<string, PageTool>;
}

interface FormFields extends HTMLFormControlsCollection {
  key: HTMLInputElement;
  run: HTMLInputElement;
  conversation: HTMLInputElement;
  csrfmiddlewaretoken: HTMLInputElement;
}

interface PanelForm extends HTMLFormElement {
  readonly elements: FormFields;
}

/** Elements that are no plain HTMLElement, by id. */
interface PanelElements {
  "aia-form": PanelForm;
  "aia-stop-form": PanelForm;
  "aia-new": PanelForm;
  "aia-input": HTMLTextAreaElement;
  "aia-look": HTMLInputElement;
  "aia-profile": HTMLSelectElement;
  "aia-name": HTMLInputElement;
  "aia-q": HTMLInputElement;
  "aia-set-corner": HTMLSelectElement;
  "aia-list": HTMLAnchorElement;
  "aia-map": HTMLDialogElement;
  "aia-settings": HTMLDetailsElement;
  "aia-notify": HTMLInputElement;
}

/** An event of an element, with what listeners ask of its target. */
type ElementEvent = Event & { target: HTMLElement };
type FieldEvent = Event & { target: HTMLInputElement };
type ElementKeyEvent = KeyboardEvent & { target: HTMLInputElement };
type ElementPointerEvent = PointerEvent & { target: HTMLElement };
type PanelEvent = CustomEvent<any>;

interface HTMLElementEventMap {
  [name: `aia:${string}`]: PanelEvent;
  [name: `htmx.${string}`]: PanelEvent;
}

interface Document {
  getElementById(id: "aia"): PanelRoot;
}

interface TrustedPolicy {
  createHTML(html: string): string;
  createScript(text: string): string;
}

interface Window {
  AIAssistant: Record<string, (...values: any[]) => unknown>;
  htmx?: unknown;
  trustedTypes?: { createPolicy(name: string, rules: object): TrustedPolicy };
}

interface HTMLDialogElement {
  closedBy: string;
}
