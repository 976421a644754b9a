// The part of htmx 4 that the panel uses.

/** What htmx hands to an extension. */
export interface InternalApi {
  initSecurity(policy: object, sync: unknown, async: unknown): void;
  morph(old: Element, fresh: DocumentFragment, isInner: boolean): void;
}

interface Htmx {
  initialize(): void;
  process(element: Element): void;
  swap(ctx: object): Promise<void>;
  registerExtension(name: string, extension: Record<string, unknown>): void;
}

declare const htmx: Htmx;
export default htmx;
