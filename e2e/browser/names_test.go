package browser_test

// What the tests look for. shadow/page/front/src/main.ts lists the same ids.
const (
	ready = `document.documentElement.dataset.state === "ready"`
)
