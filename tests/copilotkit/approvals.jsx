import { useInterrupt } from "@copilotkit/react-core/v2";

export function Approvals() {
  useInterrupt({
    render: ({ interrupts, resolve, cancel }) => (
      <ul>
        {interrupts.map(({ id, message }) => (
          <li key={id} data-interrupt={id}>
            {message}{" "}
            <button onClick={() => resolve({ approved: true }, id)}>Approve</button>{" "}
            <button onClick={() => cancel(id)}>Deny</button>
          </li>
        ))}
      </ul>
    ),
  });
  return null;
}
