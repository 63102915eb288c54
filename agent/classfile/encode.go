package classfile

func (c *Code) encode() ([]byte, error) { return nil, &UnsupportedError{What: "todo"} }
